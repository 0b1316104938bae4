// SPDX-License-Identifier: Apache-2.0
// Finds the commands and options that --help, man pages and completions show of a CLI::App.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
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

}  // namespace nopscope::host
