// SPDX-License-Identifier: Apache-2.0
// Options of the nopscope command: what several commands share, and one function for each command. It
// adds the command to `app`, sets `command`, and returns what runs it once its options have been parsed.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>

#include "host-tools/cli/kinds.hpp"
#include "host-tools/cli/values.hpp"
#include "host-tools/cli/commands/commands.hpp"

namespace nopscope::host {

using Action = std::function<Exit()>;

Action add_record(CLI::App& app, CLI::App*& command);
Action add_top(CLI::App& app, CLI::App*& command);
Action add_ctl(CLI::App& app, CLI::App*& command);
Action add_serve(CLI::App& app, CLI::App*& command);

Action add_report(CLI::App& app, CLI::App*& command);
Action add_graph(CLI::App& app, CLI::App*& command);
Action add_callers(CLI::App& app, CLI::App*& command);
Action add_callees(CLI::App& app, CLI::App*& command);
Action add_latency(CLI::App& app, CLI::App*& command);
Action add_outliers(CLI::App& app, CLI::App*& command);
Action add_irq(CLI::App& app, CLI::App*& command);
Action add_stack_depth(CLI::App& app, CLI::App*& command);
Action add_html(CLI::App& app, CLI::App*& command);
Action add_export(CLI::App& app, CLI::App*& command);
Action add_diff(CLI::App& app, CLI::App*& command);
Action add_query(CLI::App& app, CLI::App*& command);

Action add_info(CLI::App& app, CLI::App*& command);
Action add_check(CLI::App& app, CLI::App*& command);
Action add_names(CLI::App& app, CLI::App*& command);
Action add_events(CLI::App& app, CLI::App*& command);
Action add_doctor(CLI::App& app, CLI::App*& command);

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

// The same of a string.
CLI::Option* add_word(CLI::App* app, const std::string& name, std::string& value, const std::vector<std::string>& words,
                      const std::string& help);
// A whole number within `least` and `most`.
template <typename Value>
CLI::Option* add_count(CLI::App* app, const std::string& name, Value& value, std::uint64_t least, std::uint64_t most,
                       const std::string& help) {
    return app->add_option(name, value, help)->transform(whole_number(least, most))->type_name("N");
}
inline constexpr std::uint64_t most_rows = 1'000'000;  // of a table
// 0 to 100.
CLI::Option* add_percent(CLI::App* app, const std::string& name, double& value, const std::string& help);
CLI::Option* add_seconds(CLI::App* app, const std::string& name, double& value, double least, double most, const std::string& help);

// The positional `file`, which is returned, and --image: the options of each command that reads one recording.
CLI::Option* add_recording(CLI::App* command, ReportOptions& options, const char* image_help = "The ELF that was recorded");
// --raw of the commands that show times.
void add_raw(CLI::App* command, bool& raw);
// --yes of the commands that sum up.
void add_yes(CLI::App* command, bool& yes);
// --no-source and --source-root: with --image a page has the hottest functions' instructions.
void add_source(CLI::App* command, HtmlOptions& options);

}  // namespace nopscope::host
