// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/options.hpp"

namespace nopscope::host {
namespace {

// This version of nopscope drops the old names: docs/versions.md.
constexpr char old_options_end[] = "0.4.0";

struct OldOption {
    std::string_view command;  // empty: each command with options of ctl's verbs
    std::string_view name;
    std::string_view value;  // empty: any
    std::string_view now;
};
constexpr OldOption old_options[] = {
    {"", "--filter", "", "--trace"},        {"", "--only-function", "", "--only"},
    {"", "--event", "", "--events"},        {"", "--mode", "profile", "--recorder"},
    {"record", "--raw", "", "--save-line"}, {"top", "--after", "", "--delay"},
    {"graph", "--depth", "", "--levels"},   {"outliers", "--count", "", "--top"},
    {"export", "--to", "", "--format"},     {"doctor", "--seconds", "", "--duration"},
};

using Words = std::vector<std::string>;

bool is_option(std::string_view word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
}

// "--top=3" -> "--top".
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

// "a, b and c".
std::string listed(const Words& names) {
    std::string text;
    for (std::size_t n = 0; n < names.size(); ++n)
        text += (n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
    return text;
}

Words commands_with(const CLI::App& app, const std::string& option) {
    Words names;
    for (const CLI::App* const command : shown_commands(app)) {
        if (command->get_option_no_throw(option) != nullptr) names.push_back(command->get_name());
    }
    return names;
}

std::string unknown_option(const CLI::App& app, const CLI::App* command, const std::string& word) {
    const std::string name = name_of(word);
    Words known;
    for (const CLI::Option* const option : shown_options(command != nullptr ? *command : app)) {
        for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
    }
    const std::string what =
        command != nullptr ? command->get_name() + " has no option " : "there is no option ";
    const std::string near = did_you_mean(name, known);
    const Words others = commands_with(app, name);
    if (others.empty()) {
        const std::string help = command != nullptr
                                     ? "`nopscope help " + command->get_name() + "` lists them"
                                     : "`nopscope help` says what there is";
        return what + for_cell(name) + (near.empty() ? ": " + help : near);
    }
    return fmt::format("{}{}: it is an option of {}", what, for_cell(name), listed(others));
}

// An argument or an option as a person would name it.
std::string as_said(const CLI::Option& option) {
    if (!option.get_positional()) return option.get_name();
    const std::string name = option.get_name();
    static const std::map<std::string, std::string> words{
        {"before", "two recordings"}, {"image", "an ELF"}, {"sql", "a statement"}};
    if (const auto known = words.find(name); known != words.end()) return known->second;
    return option.get_type_name() == kind::recording ? "a recording" : "a " + name;
}

std::string positionals(const CLI::App& command) {
    Words names;
    for (const CLI::Option* const option : shown_options(command)) {
        if (option->get_positional()) names.push_back(as_said(*option));
    }
    return names.empty() ? "no arguments" : listed(names);
}

std::string without_command(const CLI::App& app, const Words& words) {
    if (words.empty()) return "no command is given: `nopscope help` lists them";
    if (is_option(words.front())) return unknown_option(app, nullptr, words.front());
    return unknown_command(app, words.front());
}

std::string missing(const CLI::App& command) {
    Words names;
    for (const CLI::Option* const option : shown_options(command)) {
        if (option->get_required() && option->count() == 0) names.push_back(as_said(*option));
    }
    // The first example of the help's last lines (add_command).
    std::istringstream help(command.get_footer());
    std::string example;
    while (example.find(" nopscope ") == example.npos && std::getline(help, example)) {
    }
    return fmt::format("{}: give {}, for example `{}`", command.get_name(), listed(names),
                       CLI::detail::trim(example));
}

// The option that CLI11's error is about. Null: its text does not begin with an option's name.
const CLI::Option* option_of(const CLI::App& command, std::string_view what) {
    constexpr std::string_view conversion = "Could not convert: ";
    if (what.starts_with(conversion)) what.remove_prefix(conversion.size());
    for (const CLI::Option* const option : shown_options(command)) {
        const std::string name = option->get_name();
        if (what.starts_with(name + ":") || what.starts_with(name + " ")) return option;
    }
    return nullptr;
}

std::string excluded(const CLI::App& command) {
    for (const CLI::Option* const option : shown_options(command)) {
        for (const CLI::Option* const other : option->get_excludes()) {
            if (option->count() != 0 && other->count() != 0) {
                return fmt::format("{}: give {} or {}, not both", command.get_name(),
                                   as_said(*option), as_said(*other));
            }
        }
    }
    return command.get_name() + ": two of its options exclude each other";
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::string& name) {
    const std::string near = did_you_mean(name, command_names(app));
    return fmt::format("there is no command {}{}", for_cell(name),
                       near.empty() ? ": `nopscope help` lists them" : near);
}

std::vector<std::string> command_first(const CLI::App& app, std::vector<std::string> words) {
    const auto options_named = [&](const std::string& name) {
        std::vector<const CLI::Option*> options;
        for (const CLI::App* const command : shown_commands(app)) {
            const std::string now = current_option(command->get_name(), name);
            if (const auto* const option = command->get_option_no_throw(now))
                options.push_back(option);
        }
        return options;
    };
    for (std::size_t n = 0; n < words.size(); ++n) {
        if (!is_option(words[n])) {
            const auto command = words.begin() + static_cast<std::ptrdiff_t>(n);
            std::rotate(words.begin(), command, command + 1);
            break;
        }
        const auto options = options_named(words[n]);
        const auto values = std::count_if(options.begin(), options.end(),
                                          [](const auto* option) { return takes_value(*option); });
        // --raw is a flag, but `record` accepts it with a value until version 0.4.0.
        const bool is_flag_too = static_cast<std::size_t>(values) != options.size();
        if (values != 0 &&
            !(is_flag_too && n + 1 < words.size() && find_command(app, words[n + 1]) != nullptr))
            ++n;
    }
    return words;
}

std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    if (parsed.empty()) return without_command(app, app.remaining());
    const CLI::App& command = *parsed.front();
    const Words rest = command.remaining();
    // Report an unknown option first: it may be why an argument is missing or seems too many.
    const auto unknown = std::find_if(rest.begin(), rest.end(), is_option);
    if (unknown != rest.end()) return unknown_option(app, &command, *unknown);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(command);
    if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return excluded(command);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty()) {
        return fmt::format("{}: {} is one argument too many: it takes {}", command.get_name(),
                           for_cell(rest.front()), positionals(command));
    }
    const std::string what = error.what();
    // CLI11 puts the option's name before the sentence of a check in options.hpp.
    if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return what;
    if (const CLI::Option* const option = option_of(command, what)) {
        return takes_value(*option) ? fmt::format("{} needs a value: {}", as_said(*option),
                                                  option->get_description())
                                    : fmt::format("{} takes no value", option->get_name());
    }
    return fmt::format("{}: these words make no sense together: see `nopscope help {}`",
                       command.get_name(), command.get_name());
}

std::string current_option(std::string_view command, const std::string& option,
                           std::string_view value) {
    const bool has_verbs = command == "record" || command == "top" || command == "serve";
    for (const OldOption& old : old_options) {
        const bool is_here = old.command.empty() ? has_verbs : command == old.command;
        if (!is_here || option != old.name || (!old.value.empty() && value != old.value)) continue;
        return std::string(old.now);
    }
    return option;
}

std::string used_option(std::string_view command, const std::string& option,
                        std::string_view value) {
    std::string now = current_option(command, option, value);
    if (now == option) return now;
    const bool is_of_value = current_option(command, option) == option;
    const std::string with = is_of_value ? fmt::format(" {}", value) : "";
    say(fmt::format("{}{} is now {}{}: nopscope {} will not know the old name", option, with, now,
                    with, old_options_end));
    return now;
}

void use_current_options(std::vector<std::string>& words) {
    for (std::size_t n = 1; n < words.size() && words[n] != "--"; ++n) {
        const std::size_t end = std::min(words[n].find('='), words[n].size());
        const bool has_value = end != words[n].size();
        const std::string value = has_value              ? words[n].substr(end + 1)
                                  : n + 1 < words.size() ? words[n + 1]
                                                         : "";
        words[n].replace(0, end, used_option(words.front(), words[n].substr(0, end), value));
    }
}

}  // namespace nopscope::host
