// SPDX-License-Identifier: Apache-2.0
// The script calls `_arguments` for each command, with a specification of each option and argument.
#include <fmt/format.h>

#include <iterator>

#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/completions.hpp"
#include "host-tools/cli/generated/reference.hpp"

namespace nopscope::host {
namespace {

constexpr char zsh_functions[] = R"SH(_nopscope_uri() {
    if compset -P '(@FILE_SCHEMES@)'; then _files
    else compadd -S '' -- @SCHEMES@; fi
}
_nopscope_boards() {
    local -a boards
    boards=(${(f)"$(nopscope boards 2>/dev/null)"})
    compadd -a boards
}
)SH";

// Escapes a description for [...] in zsh's _arguments, or after a colon in its _describe.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

// Returns the action of _arguments that makes the offer.
std::string zsh_offer(const Offer& offer) {
    switch (offer.what) {
    case Offer::What::nothing: return " ";
    case Offer::What::words: return "(" + joined(offer.words) + ")";
    case Offer::What::files:
        return offer.suffix.empty() ? "_files" : "_files -g \"*" + offer.suffix + "(-.)\"";
    case Offer::What::directories: return "_files -/";
    case Offer::What::uri: return "_nopscope_uri";
    case Offer::What::boards: return "_nopscope_boards";
    }
    return {};
}

std::string specifications(const CLI::App& app, const CLI::App& command) {
    std::string out;
    const auto add = [&](const std::string& one) {
        out += " \\\n                " + in_quotes(one);
    };
    for (const CLI::Option* const option : named_options(command)) {
        const bool valued = takes_value(*option);
        for (const std::string& name : names_of(*option)) {
            std::string one = (is_repeated(*option) ? "*" : "") + name +
                              (!valued                  ? ""
                               : name.starts_with("--") ? "="
                                                        : "+");
            one += "[" + zsh_text(option->get_description()) + "]";
            if (valued)
                one += ":" + zsh_text(option->get_type_name().substr(0, 20)) + ":" +
                       zsh_offer(offer_of(app, *option));
            add(one);
        }
    }
    int at = 0;
    for (const CLI::Option* const argument : arguments(command)) {
        const std::string rest =
            ":" + argument->get_name(true) + ":" + zsh_offer(offer_of(app, *argument));
        if (const auto behind = followers(command); !behind.empty()) {
            add("1" + rest);
            add("*:argument:->argument");
            continue;
        }
        add((is_repeated(*argument) ? "*" : std::to_string(++at)) + rest);
    }
    return out;
}

// Returns the lines that offer the word after a request, for a command that takes requests.
std::string follower_text(const CLI::App& command) {
    std::string out;
    for (const Follower& one : followers(command)) {
        if (one.values.empty()) continue;
        out +=
            fmt::format("            [[ $state == argument && $line[1] == {} ]] && compadd -- {}\n",
                        one.verb, joined(one.values));
    }
    return out;
}

}  // namespace

std::string zsh_completion(const CLI::App& app) {
    std::string out = with(zsh_functions, "@FILE_SCHEMES@", joined(uri_file_schemes(), "|"));
    out = std::string("#compdef nopscope\n") + completion_head +
          with(out, "@SCHEMES@", joined(uri_schemes()));
    auto to = std::back_inserter(out);
    out += "_nopscope_commands() {\n    local -a commands\n    commands=(\n";
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "        {}\n",
                       in_quotes(command->get_name() + ":" + zsh_text(command->get_description())));
    }
    out +=
        "    )\n    _describe command commands\n}\n_nopscope() {\n    local curcontext=$curcontext "
        "state\n    local -a line\n    _arguments -C" +
        specifications(app, app) +
        " \\\n        '1:command:_nopscope_commands' '*::argument:->rest'\n    [[ $state == rest "
        "]] || return\n    state=\n    case $words[1] in\n";
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "        {})\n            _arguments{}\n{}            ;;\n",
                       command->get_name(), specifications(app, *command), follower_text(*command));
    }
    return out + "    esac\n}\n_nopscope \"$@\"\n";
}

}  // namespace nopscope::host
