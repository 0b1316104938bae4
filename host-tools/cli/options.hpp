// SPDX-License-Identifier: Apache-2.0
// Helpers that several commands use to declare their options.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/calls/part.hpp"
#include "host-tools/calls/selected_calls.hpp"
#include "host-tools/figures/profile/path_groups.hpp"

namespace nopscope::host {

// The kinds of options' values. --help and man pages show a kind as the option's type name, and
// completions choose from it what they offer.
namespace kind {

inline constexpr char board[] = "NAME";  // a section of nopscope.toml
inline constexpr char command[] = "COMMAND";
inline constexpr char directory[] = "DIRECTORY";
inline constexpr char elf[] = "ELF";
inline constexpr char event[] = "EVENT";  // a PMU event
inline constexpr char file[] = "FILE";
inline constexpr char glob[] = "GLOB";  // a pattern for function names
inline constexpr char recording[] = "RECORDING";
inline constexpr char request[] = "REQUEST";  // a verb of `ctl`
inline constexpr char uri[] = "URI";          // the address of a line

}  // namespace kind

// Each of these checks an option's value before CLI11 converts it, and returns a sentence without
// its subject, the option's name: "expected a whole number from 1 to 1000, not 1e3". Decimal, or
// hexadecimal after 0x.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
// A decimal number, which may have a fraction or an exponent, but not NaN. `unit`: "seconds".
CLI::Validator real_number(double least, double most, const std::string& unit);
// One of `words`; upper and lower case are equal. The value takes the spelling in `words`.
CLI::Validator one_of(std::vector<std::string> words);

// Returns "{a,b}", as an option's type name. --help, man pages and completions read the words from
// it.
std::string choices(const std::vector<std::string>& words);

enum class Format : std::uint8_t { text, json, csv };

struct ReportOptions {
    std::string file;
    std::string image;
    Format format = Format::text;
    bool raw = false;     // show times as recorded
    bool on_cpu = false;  // show calls' times on the CPU
    SplitBy split = SplitBy::nothing;
    Part part;
    CallSelection calls;
};

// Adds a command. Its help ends with `examples`, each a complete command line, and then with
// `notes`, or the exit codes if there are no notes.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help,
                      std::initializer_list<std::string_view> examples,
                      const std::string& notes = {});

// Adds an option or an argument with the kind of its value (kinds.hpp).
template <typename Value>
CLI::Option* add_value(CLI::App* app, const std::string& name, Value& value, const char* of_kind,
                       const std::string& help) {
    return app->add_option(name, value, help)->type_name(of_kind);
}

inline const std::map<std::string, Format> formats{
    {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};
inline const std::map<std::string, Format> formats_without_csv{{"text", Format::text},
                                                               {"json", Format::json}};

template <typename Map, typename Value>
CLI::Option* add_choice(CLI::App* app, const std::string& name, Value& value, const Map& map,
                        const std::string& help) {
    std::vector<std::string> words;
    for (const auto& [word, meaning] : map) words.push_back(word);
    const auto set = [&value, map](const std::string& word) { value = map.at(word); };
    return app->add_option_function<std::string>(name, set, help)
        ->transform(one_of(words))
        ->type_name(choices(words));
}

// Like add_choice(), for a string.
CLI::Option* add_word(CLI::App* app, const std::string& name, std::string& value,
                      const std::vector<std::string>& words, const std::string& help);
// A whole number from `least` to `most`.
template <typename Value>
CLI::Option* add_count(CLI::App* app, const std::string& name, Value& value, std::uint64_t least,
                       std::uint64_t most, const std::string& help) {
    return app->add_option(name, value, help)->transform(whole_number(least, most))->type_name("N");
}
inline constexpr std::uint64_t most_rows = 1'000'000;  // of a table
inline constexpr double longest_seconds = 1e9;         // 31 years
// 0 to 100.
CLI::Option* add_percent(CLI::App* app, const std::string& name, double& value,
                         const std::string& help);
CLI::Option* add_seconds(CLI::App* app, const std::string& name, double& value, double least,
                         double most, const std::string& help);

// Adds the positional `file`, --image, and the options of a part, for a command that reads one
// recording. Returns `file`.
CLI::Option* add_recording(CLI::App* command, ReportOptions& options,
                           const char* image_help = "The ELF that was recorded");
// --time, --around, --core, --task, --under and --min-duration: the part of a recording that a
// command shows.
void add_part(CLI::App* command, ReportOptions& options);
// --function, for commands that have no function as their argument.
void add_kept_functions(CLI::App* command, ReportOptions& options);
// The positional `function`: a name or a glob.
void add_function(CLI::App* command, std::string& function);
// --raw, for commands that show times.
void add_raw(CLI::App* command, bool& raw);
// --on-cpu, for commands that show calls' times.
void add_on_cpu(CLI::App* command, bool& on_cpu);
// --by task or core, for commands whose rows can be of one task or core each.
void add_split(CLI::App* command, SplitBy& split);
// --yes, for commands that write sums.
void add_yes(CLI::App* command, bool& yes);

}  // namespace nopscope::host
