// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish: commands, their options, the options' few words; else files.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "host-tools/base/error.hpp"
#include "host-tools/base/pmu_events.hpp"
#include "host-tools/cli/commands_of.hpp"
#include "host-tools/cli/reference.hpp"
#include "host-tools/control/request.hpp"

namespace nopscope {
namespace {

constexpr char head[] = "# Written by nopscope from its own --help.\n";

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* const command : shown_commands(app)) names.push_back(command->get_name());
    return names;
}

// Of an option whose values are words: these. Those of --event are too many for --help.
std::vector<std::string> words_of(const CLI::Option& option) {
    if (option.get_name() != "--event") return choices_of(option);
    return CLI::detail::split_up(event_names(), ',');
}

// Of a command whose arguments are words and not files: these.
std::vector<std::string> arguments_of(const CLI::App& app, const CLI::App& command) {
    if (command.get_name() == "ctl") return verb_names();
    return command.get_name() == "help" ? command_names(app) : std::vector<std::string>();
}

// Within '...' of a shell.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// A description within [...] of zsh's _arguments, or after a colon of its _describe.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
    std::string out = head;
    auto to = std::back_inserter(out);
    out += "_nopscope() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local words=\n    COMPREPLY=()\n    if ((COMP_CWORD == 1)); then\n";
    fmt::format_to(to, "        COMPREPLY=($(compgen -W {} -- \"$word\"))\n        return\n    fi\n",
                   in_quotes(joined(command_names(app)) + " --help --version"));
    out += "    case \"${COMP_WORDS[1]} $before\" in\n";
    std::string options, arguments;
    for (const CLI::App* const command : shown_commands(app)) {
        std::vector<std::string> names;
        for (const CLI::Option* const option : shown_options(*command)) {
            for (const std::string& name : names_of(*option)) {
                names.push_back(name);
                const std::string choices = joined(words_of(*option));
                if (choices.empty()) continue;
                fmt::format_to(to, "        \"{} {}\") words={} ;;\n", command->get_name(), name, in_quotes(choices));
            }
        }
        if (const std::string list = joined(arguments_of(app, *command)); !list.empty()) {
            fmt::format_to(std::back_inserter(arguments), "            {}) words={} ;;\n", command->get_name(), in_quotes(list));
        }
        fmt::format_to(std::back_inserter(options), "            {}) words={} ;;\n", command->get_name(), in_quotes(joined(names)));
    }
    out += "    esac\n    if [[ -z $words && $word == -* ]]; then\n        case ${COMP_WORDS[1]} in\n" + options +
           "        esac\n    elif [[ -z $words && $before != -* ]]; then\n        case ${COMP_WORDS[1]} in\n" + arguments +
           "        esac\n    fi\n    if [[ -n $words ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    else\n        compopt -o filenames 2>/dev/null\n        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
           "complete -F _nopscope nopscope\n";
    return out;
}

std::string zsh_completion(const CLI::App& app) {
    std::string out = std::string("#compdef nopscope\n") + head;
    auto to = std::back_inserter(out);
    out += "_nopscope() {\n    if (( CURRENT == 2 )); then\n        local -a commands\n        commands=(\n";
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "            {}\n", in_quotes(command->get_name() + ":" + zsh_text(command->get_description())));
    }
    out += "        )\n        _describe command commands\n        return\n    fi\n"
           "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n";
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "        {})\n            _arguments", command->get_name());
        for (const CLI::Option* const option : shown_options(*command)) {
            for (const std::string& name : names_of(*option)) {
                std::string one = name + "[" + zsh_text(option->get_description()) + "]";
                const std::string choices = joined(words_of(*option));
                if (option->get_items_expected_max() != 0) one += ":value:" + (choices.empty() ? "_files" : "(" + choices + ")");
                fmt::format_to(to, " \\\n                {}", in_quotes(one));
            }
        }
        const std::string list = joined(arguments_of(app, *command));
        out += " \\\n                " + in_quotes(list.empty() ? "*:file:_files" : "*:word:(" + list + ")") + "\n            ;;\n";
    }
    return out + "    esac\n}\n_nopscope \"$@\"\n";
}

std::string fish_completion(const CLI::App& app) {
    std::string out = head;
    auto to = std::back_inserter(out);
    for (const CLI::App* const command : shown_commands(app)) {
        fmt::format_to(to, "complete -c nopscope -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                       in_quotes(command->get_description()));
        if (const std::string list = joined(arguments_of(app, *command)); !list.empty()) {
            fmt::format_to(to, "complete -c nopscope -n '__fish_seen_subcommand_from {}' -f -a {}\n", command->get_name(), in_quotes(list));
        }
        for (const CLI::Option* const option : shown_options(*command)) {
            if (option->get_positional()) continue;
            fmt::format_to(to, "complete -c nopscope -n '__fish_seen_subcommand_from {}'", command->get_name());
            for (const std::string& name : option->get_snames()) fmt::format_to(to, " -s {}", name);
            for (const std::string& name : option->get_lnames()) fmt::format_to(to, " -l {}", name);
            const std::string choices = joined(words_of(*option));
            if (!choices.empty()) {
                fmt::format_to(to, " -x -a {}", in_quotes(choices));
            } else if (option->get_items_expected_max() != 0) {
                out += " -r";
            }
            fmt::format_to(to, " -d {}\n", in_quotes(option->get_description()));
        }
    }
    return out;
}

void write_reference(const CLI::App& app, const std::filesystem::path& directory) {
    const auto write = [&](const std::filesystem::path& below, const std::string& text) {
        const auto path = directory / below;
        std::error_code ignored;
        std::filesystem::create_directories(path.parent_path(), ignored);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        if (!(file << text).flush()) throw Error("cannot write " + path.string());
    };
    write("man/man1/nopscope.1", man_page(app, nullptr));
    for (const CLI::App* const command : shown_commands(app)) {
        write("man/man1/nopscope-" + command->get_name() + ".1", man_page(app, command));
    }
    write("bash-completion/completions/nopscope", bash_completion(app));
    write("zsh/vendor-completions/_nopscope", zsh_completion(app));
    write("fish/vendor_completions.d/nopscope.fish", fish_completion(app));
}

}  // namespace nopscope
