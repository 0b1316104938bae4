// SPDX-License-Identifier: Apache-2.0
// The script has a `complete` for each option and for each command's arguments.
#include <fmt/format.h>

#include <iterator>

#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/completions.hpp"
#include "host-tools/cli/generated/reference.hpp"

namespace nopscope::host {
namespace {

constexpr char fish_functions[] =
    R"SH(# The files that end in $argv[1], and directories; all if none does.
function __nopscope_files
    set -l word (commandline -ct | string replace -r -- '^--[^=]*=' '')
    set -l all (__fish_complete_path $word)
    set -l fit (string match -r -- '^[^\t]*(?:/|'(string escape --style=regex -- $argv[1])')(?:\t.*)?$' $all)
    if string match -qr -- (string escape --style=regex -- $argv[1])'(?:\t.*)?$' $fit
        printf '%s\n' $fit
    else
        printf '%s\n' $all
    end
end
function __nopscope_uri
    set -l word (commandline -ct | string replace -r -- '^--[^=]*=' '')
    if string match -qr -- '^(@FILE_SCHEMES@)' $word
        set -l scheme (string replace -r -- ':.*' ':' $word)
        printf '%s\n' $scheme(__fish_complete_path (string replace -r -- '^[a-z]*:' '' $word))
    else
        printf '%s\n' @SCHEMES@
    end
end
)SH";

// Returns the arguments of `complete` that offer a value.
std::string fish_offer(const Offer& offer) {
    switch (offer.what) {
    case Offer::What::nothing: return " -x";
    case Offer::What::words: return " -x -a " + in_quotes(joined(offer.words));
    case Offer::What::files:
        return offer.suffix.empty() ? " -r -F"
                                    : fmt::format(" -x -a '(__nopscope_files {})'", offer.suffix);
    case Offer::What::directories: return " -x -a '(__fish_complete_directories)'";
    case Offer::What::uri: return " -x -a '(__nopscope_uri)'";
    case Offer::What::boards: return " -x -a '(nopscope boards 2>/dev/null)'";
    }
    return {};
}

// The same for a positional argument, which is no option and so needs no -r.
std::string argument_text(const Offer& offer) {
    std::string text = fish_offer(offer);
    if (text.starts_with(" -x")) return " -f" + text.substr(3);
    return " -F";
}

std::string option_text(const CLI::App& app, const CLI::Option& option) {
    std::string out;
    for (const std::string& name : option.get_snames()) out += " -s " + name;
    for (const std::string& name : option.get_lnames()) out += " -l " + name;
    if (takes_value(option)) out += fish_offer(offer_of(app, option));
    return out + " -d " + in_quotes(option.get_description()) + "\n";
}

// fish does not count arguments, so each argument gets the offers of the first one.
std::string arguments_text(const CLI::App& app, const CLI::App& command) {
    std::string seen = "__fish_seen_subcommand_from " + command.get_name();
    const auto all = arguments(command);
    if (all.empty()) return fmt::format("complete -c nopscope -n {} -f\n", in_quotes(seen));
    std::string out;
    std::vector<std::string> verbs;
    for (const Follower& one : followers(command)) {
        verbs.push_back(one.verb);
        if (!one.values.empty()) {
            out += fmt::format(
                "complete -c nopscope -n '{}; and __fish_seen_subcommand_from {}' -f -a {}\n", seen,
                one.verb, in_quotes(joined(one.values)));
        }
    }
    if (!verbs.empty()) {
        out += fmt::format("complete -c nopscope -n {} -f\n", in_quotes(seen));
        seen += "; and not __fish_seen_subcommand_from " + joined(verbs);
    }
    return out + fmt::format("complete -c nopscope -n {}{}\n", in_quotes(seen),
                             argument_text(offer_of(app, *all.front())));
}

}  // namespace

std::string fish_completion(const CLI::App& app) {
    std::string out = with(fish_functions, "@FILE_SCHEMES@", joined(uri_file_schemes(), "|"));
    out = completion_head + with(out, "@SCHEMES@", joined(uri_schemes()));
    auto to = std::back_inserter(out);
    for (const CLI::Option* const option : named_options(app)) {
        out += "complete -c nopscope -n __fish_use_subcommand" + option_text(app, *option);
    }
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "complete -c nopscope -n __fish_use_subcommand -f -a {} -d {}\n",
                       command->get_name(), in_quotes(command->get_description()));
        out += arguments_text(app, *command);
        for (const CLI::Option* const option : named_options(*command)) {
            fmt::format_to(to, "complete -c nopscope -n '__fish_seen_subcommand_from {}'{}",
                           command->get_name(), option_text(app, *option));
        }
    }
    return out;
}

}  // namespace nopscope::host
