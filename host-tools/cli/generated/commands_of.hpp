// SPDX-License-Identifier: Apache-2.0
// Finds the commands and options that --help, man pages and completions show of a CLI::App.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// CLI11 hides the commands and options whose group is empty.
inline std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
    return app.get_subcommands(
        [](const CLI::App* one) { return !one->get_group().empty() && !one->get_name().empty(); });
}
inline std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* const command : shown_commands(app)) names.push_back(command->get_name());
    return names;
}
// Null: no visible command has that name.
inline const CLI::App* find_command(const CLI::App& app, const std::string& name) {
    for (const CLI::App* const command : shown_commands(app)) {
        if (command->get_name() == name) return command;
    }
    return nullptr;
}
inline std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
    auto options =
        app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
    // CLI11 represents a group of options as an app without a name.
    for (const CLI::App* const group :
         app.get_subcommands([](const CLI::App* one) { return one->get_name().empty(); })) {
        for (const CLI::Option* const option : shown_options(*group)) options.push_back(option);
    }
    return options;
}

// Includes the hidden options.
inline std::vector<CLI::Option*> all_options(CLI::App& app) {
    auto options = app.get_options();
    for (CLI::App* const group :
         app.get_subcommands([](CLI::App* one) { return one->get_name().empty(); })) {
        for (CLI::Option* const option : all_options(*group)) options.push_back(option);
    }
    return options;
}

inline bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }
// Whether an option or an argument may be repeated.
inline bool is_repeated(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

// Returns an option's words if its type name is that of choices(), "{a,b}"; else nothing.
inline std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    std::vector<std::string> words;
    if (type.size() < 2 || type.front() != '{' || type.back() != '}') return words;
    std::string word;
    for (const char c : std::string_view(type).substr(1)) {
        if (c != ',' && c != '}') {
            word += c;
        } else {
            words.push_back(std::move(word));
            word.clear();
        }
    }
    return words;
}

}  // namespace nopscope::host
