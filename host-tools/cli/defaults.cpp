// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "host-tools/base/error.hpp"
#include "host-tools/cli/commands_of.hpp"

namespace nopscope {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

// "--name VALUE" or "--name=VALUE"; empty: neither is there.
std::string value_of(const std::vector<std::string>& words, const std::string& name) {
    for (std::size_t n = 0; n < words.size(); ++n) {
        if (words[n] == name && n + 1 < words.size()) return words[n + 1];
        if (words[n].starts_with(name + "=")) return words[n].substr(name.size() + 1);
    }
    return {};
}

bool gives(const std::vector<std::string>& words, const CLI::Option& option) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        for (const std::string& name : option.get_lnames()) {
            if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
        }
        for (const std::string& name : option.get_snames()) {
            if (word.starts_with("-" + name) && !word.starts_with("--")) return true;
        }
        return false;
    });
}

std::vector<CLI::ConfigItem> read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw Error("cannot open " + path);
    try {
        std::vector<CLI::ConfigItem> items = CLI::ConfigBase().from_config(file);
        // What opens and closes a section.
        std::erase_if(items, [](const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; });
        return items;
    } catch (const CLI::Error& error) {
        throw Error(path + ": " + error.what(), Exit::usage);
    }
}

std::string full_name(const CLI::ConfigItem& item) {
    std::string name;
    for (const std::string& parent : item.parents) name += parent + ".";
    return name + item.name;
}

// Of every item: some command has such an option, and its command, where it is of one.
void check(const CLI::App& app, const std::vector<CLI::ConfigItem>& items, const std::string& file) {
    for (const CLI::ConfigItem& item : items) {
        if (item.parents.empty() && item.name == "board") continue;
        if (item.parents.empty() || item.parents.size() > 2) {
            throw Error(fmt::format("{}: {}: options are in a board's section, [BOARD] or [BOARD.COMMAND]", file, full_name(item)),
                        Exit::usage);
        }
        bool known = false;
        for (const CLI::App* const command : shown_commands(app)) {
            const bool is_meant = item.parents.size() == 1 || item.parents[1] == command->get_name();
            known = known || (is_meant && command->get_option_no_throw("--" + item.name) != nullptr);
        }
        if (!known) throw Error(fmt::format("{}: {}: no command has such an option", file, full_name(item)), Exit::usage);
    }
}

}  // namespace

std::string defaults_file() {
    if (const std::string named = variable("NOPSCOPE_CONFIG"); !named.empty()) return named;
    std::error_code ignored;
    if (std::filesystem::exists("nopscope.toml", ignored)) return "nopscope.toml";
    const std::string home = variable("XDG_CONFIG_HOME").empty() ? variable("HOME") + "/.config" : variable("XDG_CONFIG_HOME");
    const std::string path = home + "/nopscope/config.toml";
    return std::filesystem::exists(path, ignored) ? path : "";
}

std::vector<std::string> with_defaults(const CLI::App& app, std::vector<std::string> words, const std::string& file) {
    const auto is_command = [&](const std::string& word) { return find_command(app, word) != nullptr; };
    const auto command_at = std::find_if(words.begin(), words.end(), is_command);
    const std::string asked = value_of({words.begin(), command_at}, "--board");
    if (command_at == words.end()) return words;
    if (file.empty()) {
        if (asked.empty()) return words;
        throw Error("--board " + asked + ": there is no nopscope.toml that would say what that is", Exit::usage);
    }
    const std::vector<CLI::ConfigItem> items = read(file);
    check(app, items, file);
    std::string board = asked;
    std::set<std::string> boards;
    for (const CLI::ConfigItem& item : items) {
        if (!item.parents.empty()) boards.insert(item.parents[0]);
        if (item.parents.empty() && board.empty() && !item.inputs.empty()) board = item.inputs[0];
    }
    if (board.empty()) return words;
    if (!boards.contains(board)) {
        throw Error(fmt::format("{}: there is no section [{}]; there are {}", file, board,
                                boards.empty() ? "none" : fmt::format("{}", fmt::join(boards, ", "))),
                    Exit::usage);
    }
    const CLI::App& command = *find_command(app, *command_at);
    const std::vector<std::string> given(command_at, words.end());
    std::set<std::string> taken;
    // A command's own section first.
    for (const std::size_t depth : {std::size_t{2}, std::size_t{1}}) {
        for (const CLI::ConfigItem& item : items) {
            if (item.parents.size() != depth || item.parents[0] != board) continue;
            if (depth == 2 && item.parents[1] != command.get_name()) continue;
            const CLI::Option* const option = command.get_option_no_throw("--" + item.name);
            if (option == nullptr || gives(given, *option) || !taken.insert(item.name).second) continue;
            const auto& others = option->get_excludes();
            if (std::any_of(others.begin(), others.end(), [&](const CLI::Option* one) { return gives(given, *one); })) continue;
            for (const std::string& value : item.inputs) words.push_back("--" + item.name + "=" + value);
        }
    }
    return words;
}

}  // namespace nopscope
