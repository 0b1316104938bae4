// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host-tools/base/error.hpp"
#include "host-tools/base/or_throw.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr char group_of_parts[] = "Parts of a recording";

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help,
                      std::initializer_list<std::string_view> examples, const std::string& notes) {
    CLI::App* const command = app.add_subcommand(name, help);
    std::string footer = examples.size() == 0 ? "" : "Examples:\n";
    for (const std::string_view example : examples)
        footer.append("  ").append(example).append("\n");
    command->footer(footer + "\n" + (notes.empty() ? app.get_footer() : notes));
    return command;
}

CLI::Option* add_recording(CLI::App* command, ReportOptions& options, const char* image_help) {
    add_value(command, "--image", options.image, kind::elf, image_help);
    add_part(command, options);
    return add_value(command, "file", options.file, kind::recording,
                     "A recording, or a raw capture; - for standard input")
        ->required();
}

void add_part(CLI::App* command, ReportOptions& options) {
    Part& part = options.part;
    const auto add = [&](const char* name, const char* type, const char* help, auto set) {
        return command->add_option_function<std::string>(name, set, help)
            ->type_name(type)
            ->group(group_of_parts);
    };
    CLI::Option* const time =
        add("--time", "RANGE", "Only this time: 10ms..20ms, ..1.5s, -5ms.. or @1..@2 (markers)",
            [&part](const std::string& text) { part.time = or_throw(read_time_range(text)); });
    add("--around", "TIME", "Only the time around this one; 10.5ms,1ms: a millisecond on each side",
        [&part](const std::string& text) { part.time = or_throw(read_time_around(text)); })
        ->excludes(time);
    command->add_option("--core", part.core, "Only this core")
        ->transform(whole_number(0, 255))
        ->type_name("N")
        ->group(group_of_parts);
    add("--task", kind::glob, "Only the tasks with this name or number",
        [&part](const std::string& text) { part.task = text; });
    add("--under", kind::glob, "Only the calls of this function, and the calls inside them",
        [&part](const std::string& text) { part.under = text; });
    add("--min-duration", "TIME", "Only calls that take this long, as 10us",
        [&options](const std::string& text) {
            const auto least = read_time(text);
            if (!least || *least == 0) {
                throw Error(fmt::format("--min-duration {}: expected a time with a unit (ns, us, "
                                        "ms, s), as 10us",
                                        for_cell(text)),
                            Exit::usage);
            }
            options.calls.least_time = *least;
        });
}

void add_kept_functions(CLI::App* command, ReportOptions& options) {
    add_value(command, "--function", options.calls.function, kind::glob, "Only these functions")
        ->group(group_of_parts);
}

void add_function(CLI::App* command, std::string& function) {
    add_value(command, "function", function, kind::glob, "Its name, or a glob of names")
        ->required();
}

CLI::Option* add_percent(CLI::App* app, const std::string& name, double& value,
                         const std::string& help) {
    return app->add_option(name, value, help)
        ->transform(real_number(0, 100, "percent"))
        ->type_name("PERCENT");
}

CLI::Option* add_seconds(CLI::App* app, const std::string& name, double& value, double least,
                         double most, const std::string& help) {
    return app->add_option(name, value, help)
        ->transform(real_number(least, most, "seconds"))
        ->type_name("SECONDS");
}

CLI::Option* add_word(CLI::App* app, const std::string& name, std::string& value,
                      const std::vector<std::string>& words, const std::string& help) {
    return app->add_option(name, value, help)->transform(one_of(words))->type_name(choices(words));
}

void add_raw(CLI::App* command, bool& raw) {
    command->add_flag("--raw", raw, "Show times as recorded, with what recording took in them");
}

void add_on_cpu(CLI::App* command, bool& on_cpu) {
    command->add_flag("--on-cpu", on_cpu,
                      "Show calls' times on the CPU: only while their tasks ran");
}

void add_split(CLI::App* command, SplitBy& split) {
    static const std::map<std::string, SplitBy> words{{"task", SplitBy::task},
                                                      {"core", SplitBy::core}};
    add_choice(command, "--by", split, words, "A row for each function of each task, or core");
}

void add_yes(CLI::App* command, bool& yes) {
    command->add_flag("--yes", yes, "Write an output of more than 1 GB, too");
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    return {[least, most](std::string& text) -> std::string {
                const auto value = read_number(text);
                if (!value || *value < least || *value > most) {
                    return fmt::format("expected a whole number from {} to {}, not {}", least, most,
                                       for_cell(text));
                }
                text = std::to_string(*value);  // CLI11 would take 010 for octal
                return {};
            },
            ""};
}

CLI::Validator real_number(double least, double most, const std::string& unit) {
    return {[least, most, unit](std::string& text) -> std::string {
                double value = 0;
                const char* const end = text.data() + text.size();
                const auto [at, error] = std::from_chars(text.data(), end, value);
                if (error == std::errc() && at == end && value >= least && value <= most) return {};
                return fmt::format("expected a number of {} from {} to {}, not {}", unit, least,
                                   most, for_cell(text));
            },
            ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
    return {[words = std::move(words)](std::string& text) -> std::string {
                const auto found =
                    std::find_if(words.begin(), words.end(), [&](const std::string& word) {
                        return CLI::detail::to_lower(word) == CLI::detail::to_lower(text);
                    });
                if (found == words.end()) {
                    return fmt::format("expected one of {}, not {}{}", fmt::join(words, ", "),
                                       for_cell(text), did_you_mean(text, words));
                }
                text = *found;
                return {};
            },
            ""};
}

std::string choices(const std::vector<std::string>& words) {
    return fmt::format("{{{}}}", fmt::join(words, ","));
}

}  // namespace nopscope::host
