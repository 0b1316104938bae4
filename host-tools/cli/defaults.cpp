// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/usage.hpp"

namespace nopscope::host {
namespace {

constexpr char file_here[] = "nopscope.toml";  // in the current directory

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Throws no Error: that would hide --help, which CLI11 handles later.
[[noreturn]] void refuse(const std::string& sentence) {
    throw CLI::FileError(sentence, static_cast<int>(Exit::usage));
}

std::string full_name(const CLI::ConfigItem& item) {
    std::string name;
    for (const std::string& parent : item.parents) name += parent + ".";
    return name + item.name;
}

using Items = std::vector<CLI::ConfigItem>;

std::string first_value(const CLI::ConfigItem& item) {
    return item.inputs.empty() ? "" : item.inputs[0];
}

// Returns the name of the item's option. In a section for all commands, a name that is current in
// any command is not taken for an old name of this command's option.
std::string option_of(const CLI::App& app, const CLI::App& command, const CLI::ConfigItem& item) {
    const std::string name = "--" + item.name;
    if (item.parents.size() == 1 && command.get_option_no_throw(name) == nullptr) {
        for (const CLI::App* const other : shown_commands(app)) {
            if (other->get_option_no_throw(name) != nullptr) return name;
        }
    }
    return current_option(command.get_name(), name, first_value(item));
}

// Refuses an item if its section is for one command that lacks this option, or if all lack it.
void check(const CLI::App& app, const Items& items, const std::string& file) {
    for (const CLI::ConfigItem& item : items) {
        if (item.parents.empty() && item.name == "board") continue;
        if (item.parents.empty() || item.parents.size() > 2) {
            refuse(
                fmt::format("{}: {}: options are in a board's section, [BOARD] or [BOARD.COMMAND]",
                            file, full_name(item)));
        }
        bool known = false;
        for (const CLI::App* const command : shown_commands(app)) {
            const bool is_meant =
                item.parents.size() == 1 || item.parents[1] == command->get_name();
            const CLI::Option* const option =
                is_meant ? command->get_option_no_throw(option_of(app, *command, item)) : nullptr;
            known = known || (option != nullptr && option->get_configurable());
        }
        if (!known)
            refuse(fmt::format("{}: {}: no command has such an option", file, full_name(item)));
    }
}

// What editors and web pages put in place of another character. Many look like what is meant.
constexpr struct {
    std::string_view typed, code, meant;
} typographic[] = {
    {"\u201c", "U+201C", "\""},         {"\u201d", "U+201D", "\""},
    {"\u201e", "U+201E", "\""},         {"\u201f", "U+201F", "\""},
    {"\u00ab", "U+00AB", "\""},         {"\u00bb", "U+00BB", "\""},
    {"\u2018", "U+2018", "'"},          {"\u2019", "U+2019", "'"},
    {"\u201a", "U+201A", "'"},          {"\u00b4", "U+00B4", "'"},
    {"\u2010", "U+2010", "-"},          {"\u2011", "U+2011", "-"},
    {"\u2013", "U+2013", "-"},          {"\u2014", "U+2014", "-"},
    {"\u2212", "U+2212", "-"},          {"\uff1d", "U+FF1D", "="},
    {"\u00a0", "U+00A0", "a space"},    {"\u202f", "U+202F", "a space"},
    {"\u2009", "U+2009", "a space"},    {"\u3000", "U+3000", "a space"},
    {"\u2028", "U+2028", "a new line"}, {"\u200b", "U+200B", "nothing"},
    {"\u2060", "U+2060", "nothing"},    {"\ufeff", "U+FEFF", "nothing"},
};

// The line without its comment and without what is in quotes.
std::string syntax_of(std::string_view line, bool with_strings = false) {
    std::string syntax;
    char quote = 0;
    for (std::size_t at = 0; at < line.size() && (quote != 0 || line[at] != '#'); ++at) {
        const char byte = line[at];
        if (quote != 0 ? byte == quote : byte == '"' || byte == '\'') quote = quote != 0 ? 0 : byte;
        if (quote == 0 || with_strings) syntax += byte;
        if (quote == '"' && byte == '\\') ++at;
    }
    return syntax;
}

// Refuses a line that an editor has saved in another encoding, or with other characters.
void check_line(std::string_view line, std::size_t number) {
    const std::string text = syntax_of(line, true), syntax = syntax_of(line);
    if (to_utf8(text) != text) {
        refuse(fmt::format("line {} is not UTF-8: {}: save the file as UTF-8", number,
                           for_cell(text)));
    }
    for (const auto& [typed, code, meant] : typographic) {
        if (syntax.find(typed) == syntax.npos) continue;
        refuse(fmt::format("line {} has the character {} where {} is meant: {}", number, code,
                           meant, for_cell(text)));
    }
}

// Reads what any editor writes: with or without a byte order mark, and all line ends. Refuses
// UTF-16.
std::string text_of(std::istream& in) {
    std::string text(std::istreambuf_iterator<char>(in), {}), lines;
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
        text.find('\0') != text.npos) {
        refuse("not UTF-8, but UTF-16 or no text: save it as UTF-8");
    }
    if (text.starts_with("\ufeff")) text.erase(0, 3);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\r') lines += text[at];
        if (text[at] == '\r' && !text.substr(at + 1, 1).starts_with('\n')) lines += '\n';
    }
    return lines;
}

Items items_of(std::istream& in, const std::string& file) {
    try {
        // ConfigBase would take "[board]  # comment" for an option.
        std::stringstream from(text_of(in)), text;
        std::size_t number = 0;
        for (std::string line; std::getline(from, line); text << line << '\n') {
            check_line(line, ++number);
            if (CLI::detail::trim(line).starts_with('['))
                line.resize(std::min(line.find('#'), line.size()));
        }
        Items items = CLI::ConfigBase().from_config(text);
        // CLI11 marks the begin and end of a section with these items.
        std::erase_if(items, [](const CLI::ConfigItem& item) {
            return item.name == "++" || item.name == "--";
        });
        return items;
    } catch (const CLI::Error& error) {
        refuse(file + ": " + error.what());
    }
}

// Returns --board, else the file's `board`; empty if neither is given.
std::string board_of(const CLI::App& command, const Items& items, const std::string& file) {
    std::string board;
    std::set<std::string> boards;
    for (const CLI::ConfigItem& item : items) {
        if (!item.parents.empty()) boards.insert(item.parents[0]);
        if (item.parents.empty() && !item.inputs.empty()) board = item.inputs[0];
    }
    if (const auto& asked = command.get_option("--board")->results(); !asked.empty())
        board = asked.back();
    if (!board.empty() && !boards.contains(board)) {
        refuse(fmt::format("{}: there is no section [{}]; there are {}", file, for_cell(board),
                           boards.empty() ? "none" : fmt::format("{}", fmt::join(boards, ", "))));
    }
    return board;
}

void set(CLI::Option& option, const CLI::ConfigItem& item, const std::string& file) {
    const std::string where = file + ": " + full_name(item);
    // The directory may be somebody else's.
    if (file == file_here && first_value(item).starts_with("exec:")) {
        refuse(where +
               ": exec: starts a program: give it on the command line, or name this file in "
               "NOPSCOPE_CONFIG");
    }
    try {
        if (takes_value(option)) {
            option.add_result(item.inputs);
        } else {
            option.add_result(option.get_flag_value(item.name, CLI::ConfigBase().to_flag(item)));
        }
        option.run_callback();
    } catch (const CLI::ValidationError& error) {
        option.clear();  // else CLI11 finds the value again and blames the command line
        const std::string_view sentence = error.what();
        refuse(fmt::format("{}{}", where,
                           sentence.substr(std::min(option.get_name().size(), sentence.size()))));
    } catch (const Error& error) {
        option.clear();
        refuse(where + ": " + error.what());
    } catch (const CLI::ParseError&) {
        option.clear();
        refuse(fmt::format("{}: expected {}", where,
                           takes_value(option) ? "one value" : "true or false"));
    }
}

// CLI11 asks this class for the items of the configuration file after it has read the command line
// and before it checks for required options.
class BoardDefaults final : public CLI::ConfigBase {
public:
    BoardDefaults(const CLI::App& app, std::string file) : app_(app), file_(std::move(file)) {}

    // Sets the options itself and returns no items, so CLI11 sets none.
    Items from_config(std::istream& in) const override {
        const auto parsed = app_.get_subcommands();
        if (!parsed.empty()) apply(*parsed.front(), items_of(in, file_));
        return {};
    }

private:
    void apply(CLI::App& command, const Items& all) const {
        check(app_, all, file_);
        const std::string board = board_of(command, all, file_);
        // The command's own section comes first, because the first value wins.
        for (const std::size_t depth : {std::size_t{2}, std::size_t{1}}) {
            for (const CLI::ConfigItem& item : all) {
                if (item.parents.size() != depth || item.parents[0] != board) continue;
                if (depth == 2 && item.parents[1] != command.get_name()) continue;
                const std::string name = option_of(app_, command, item);
                CLI::Option* const option = command.get_option_no_throw(name);
                if (option == nullptr || option->count() != 0) continue;
                const auto& others = option->get_excludes();
                if (std::any_of(others.begin(), others.end(),
                                [](const CLI::Option* one) { return one->count() != 0; }))
                    continue;
                if (name != "--" + item.name) {
                    used_option(command.get_name(), "--" + item.name, first_value(item));
                }
                set(*option, item, file_);
            }
        }
    }

    const CLI::App& app_;
    const std::string file_;
};

}  // namespace

std::string defaults_file() {
    if (const std::string named = variable("NOPSCOPE_CONFIG"); !named.empty()) return named;
    std::error_code ignored;
    if (std::filesystem::exists(file_here, ignored)) return file_here;
    const std::string home = variable("XDG_CONFIG_HOME").empty() ? variable("HOME") + "/.config"
                                                                 : variable("XDG_CONFIG_HOME");
    const std::string path = home + "/nopscope/config.toml";
    return std::filesystem::exists(path, ignored) ? path : "";
}

std::vector<std::string> boards_of(const std::string& file) {
    std::set<std::string> boards;
    try {
        std::ifstream in(file);
        for (const CLI::ConfigItem& item : items_of(in, file)) {
            if (!item.parents.empty()) boards.insert(item.parents[0]);
        }
    } catch (const CLI::Error&) {
        return {};
    }
    return {boards.begin(), boards.end()};
}

void use_defaults(CLI::App& app, const std::string& file) {
    app.config_formatter(std::make_shared<BoardDefaults>(app, file));
    app.set_config("--defaults", file, "", true)->group("");
}

}  // namespace nopscope::host
