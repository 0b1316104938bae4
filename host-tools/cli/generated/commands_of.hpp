// SPDX-License-Identifier: Apache-2.0
// What of a CLI::App is to be seen: the same for --help, man pages and completions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Those in an empty group are hidden (CLI11's own rule).
inline std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
    return app.get_subcommands(
        [](const CLI::App* one) { return !one->get_group().empty() && !one->get_name().empty(); });
}
// Null: there is none of that name.
inline const CLI::App* find_command(const CLI::App& app, const std::string& name) {
    for (const CLI::App* const command : shown_commands(app)) {
        if (command->get_name() == name) return command;
    }
    return nullptr;
}
inline std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
    auto options =
        app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
    // A group of options is an app without a name.
    for (const CLI::App* const group :
         app.get_subcommands([](const CLI::App* one) { return one->get_name().empty(); })) {
        for (const CLI::Option* const option : shown_options(*group)) options.push_back(option);
    }
    return options;
}

// The hidden ones, too.
inline std::vector<CLI::Option*> all_options(CLI::App& app) {
    auto options = app.get_options();
    for (CLI::App* const group :
         app.get_subcommands([](CLI::App* one) { return one->get_name().empty(); })) {
        for (CLI::Option* const option : all_options(*group)) options.push_back(option);
    }
    return options;
}

// Of an option whose values are a few words: these.
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
