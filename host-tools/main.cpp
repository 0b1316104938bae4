// SPDX-License-Identifier: Apache-2.0
// The nopscope command: options in, one function call out, errors caught here and nowhere else.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>

#include "host-tools/base/pmu_events.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/commands/commands.hpp"
#include "host-tools/commands/top.hpp"
#include "host-tools/control_options.hpp"
#include "host-tools/export/formats.hpp"
#include "host-tools/version.hpp"

namespace {

using namespace nopscope;

constexpr char exit_codes[] =
    "Exit codes: 0 done; 1 check found a problem; 2 wrong usage; 3 a file, port or image cannot be "
    "used;\n4 record: the command behind exec: failed. Details: docs/cli.md.";

const std::map<std::string, Format> formats{
    {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};
const std::map<std::string, Format> formats_without_csv{{"text", Format::text},
                                                        {"json", Format::json}};
const std::map<std::string, SortKey> sort_keys{{"self", SortKey::self},
                                               {"total", SortKey::total},
                                               {"calls", SortKey::calls},
                                               {"max", SortKey::max}};

template <typename Map, typename Value>
CLI::Option* add_choice(CLI::App* app, const std::string& name, Value& value, const Map& map,
                        const std::string& help) {
    return app->add_option(name, value, help)
        ->transform(CLI::CheckedTransformer(map, CLI::ignore_case).description(""))
        ->type_name(CLI::detail::generate_map(CLI::detail::smart_deref(map), true));
}

std::function<Exit()> add_record(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<RecordOptions>();
    command = app.add_subcommand("record", "Record a target's line to a file");
    add_line(command, options->line, "The ELF that runs there: its symbols go into the recording");
    command->add_option("-o,--output", options->output, "The recording to write")->required();
    command->add_option("--raw", options->raw,
                        "Keep the line's bytes, too, as they came: report reads them as well");
    command->add_option("--duration", options->duration_seconds, "Stop after so many seconds")
        ->check(CLI::NonNegativeNumber);
    command->add_flag("--until-end,!--no-until-end", options->until_end,
                      "Stop when the target says it has finished (the default)");
    command->add_flag("-q,--quiet", options->quiet, "Show neither console nor progress");
    const auto read_steering = add_steering(command, options->line);
    return [options, read_steering] {
        read_steering();
        return record(*options);
    };
}

void add_raw(CLI::App* command, bool& raw) {
    command->add_flag("--raw", raw, "Show times as recorded, with what recording took in them");
}
void add_raw(CLI::App* command, ReportOptions& options) { add_raw(command, options.raw); }

std::function<Exit()> add_top(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<TopOptions>();
    auto sort = std::make_shared<std::string>(top::head_of(options->sort));
    command = app.add_subcommand("top", "Watch a running target in the terminal");
    add_line(command, options->live.line, "The ELF that runs there: names of functions");
    command->add_option("-o,--output", options->live.record, "Record the line on the side, too");
    command->add_option("--interval", options->interval, "Seconds between two looks (1)")->check(CLI::Range(0.1, 3600.0));
    command->add_option("--sort", *sort, "By this column: now, calls/s, calls, self, total, share, p50, p99, function (now)");
    command->add_option("--idle", options->live.idle,
                        "Functions of a core that has nothing to do, globs (*idle* *wfi* *wait_for_interrupt*)");
    add_raw(command, options->raw);
    command->add_flag("--once", options->once, "Print one look; for scripts, no terminal is needed");
    command->add_option("--after", options->after, "--once: seconds before it begins (2)")->check(CLI::Range(0.0, 1e6));
    add_choice(command, "--format", options->format, formats_without_csv, "--once: output");
    command->add_option("--top", options->top, "--once: only the first so many functions");
    const auto read_steering = add_steering(command, options->live.line);
    command->footer("Example: nopscope top --from serial:/dev/ttyUSB0?baud=3000000 --image firmware.elf\n"
                    "Press ? for its keys.");
    return [options, sort, read_steering] {
        options->sort = top::column_named(*sort);
        read_steering();
        return watch(*options);
    };
}

std::function<Exit()> add_report(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReportOptions>();
    command = app.add_subcommand("report", "Show where the time went, by function");
    command
        ->add_option("file", options->file, "A recording, or a raw capture; - for standard input")
        ->required();
    command->add_option("--image", options->image, "The ELF that was recorded");
    add_choice(command, "--format", options->format, formats, "Output");
    add_choice(command, "--sort", options->sort, sort_keys, "Order, largest first");
    command->add_option("--top", options->top, "Only the first so many functions");
    add_raw(command, *options);
    return [options] { return report(*options); };
}

std::function<Exit()> add_graph(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReportOptions>();
    auto percent = std::make_shared<double>(0);
    command = app.add_subcommand("graph", "Show the call tree with times");
    command
        ->add_option("file", options->file, "A recording, or a raw capture; - for standard input")
        ->required();
    command->add_option("--image", options->image, "The ELF that was recorded");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    command->add_option("--depth", options->graph.depth, "Only so many levels");
    command->add_option("--min-share", *percent, "Only paths with so many percent of the time")
        ->check(CLI::Range(0.0, 100.0));
    add_raw(command, *options);
    return [options, percent] {
        options->graph.min_share = *percent / 100;
        return graph(*options);
    };
}

struct Question {
    const char* name;
    const char* help;
    const char* function;  // what is said of its argument; null: it has none
    Exit (*ask)(const QuestionOptions&);
};
constexpr Question questions[] = {
    {"callers", "Who calls a function, how often and for how long", "Its name, or a glob of names", callers},
    {"callees", "What a function calls, how often and for how long", "Its name, or a glob of names", callees},
    {"latency", "How long a function's calls take, as a distribution", "Its name, or a glob of names", latency},
    {"outliers", "The slowest calls of a function, each with what it called", "Its name, or a glob of names", outliers},
    {"irq", "How long interrupts take, and how long they are masked", nullptr, irq},
    {"stack-depth", "How deep calls get, and on which path", nullptr, stack_depth},
};

std::function<Exit()> add_question(CLI::App& app, CLI::App*& command, const Question& question) {
    auto options = std::make_shared<QuestionOptions>();
    command = app.add_subcommand(question.name, question.help);
    command
        ->add_option("file", options->report.file, "A recording, or a raw capture; - for standard input")
        ->required();
    if (question.function != nullptr) {
        command->add_option("function", options->function, question.function)->required();
    }
    command->add_option("--image", options->report.image, "The ELF that was recorded");
    add_choice(command, "--format", options->report.format, formats_without_csv, "Output");
    if (question.ask == outliers) {
        command->add_option("--count", options->count, "How many")->check(CLI::Range(1, 1000));
        command->add_option("--min-share", options->min_percent, "Of a call's tree only what took so many percent of it (1)")
            ->check(CLI::Range(0.0, 100.0));
    } else {
        add_raw(command, options->report);
    }
    return [options, ask = question.ask] { return ask(*options); };
}

std::function<Exit()> add_export(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ExportOptions>();
    command = app.add_subcommand("export", "Write a recording in another tool's format");
    command
        ->add_option("file", options->report.file, "A recording, or a raw capture; - for standard input")
        ->required();
    command->add_option("--to", options->format, "The format: " + export_format_names())->required();
    command->add_option("-o,--output", options->output, "The file or directory to write")->required();
    command->add_option("--image", options->report.image, "The ELF that was recorded");
    command->add_flag("--raw", options->report.raw,
                      "Of formats with sums: times as recorded, with what recording took in them");
    std::string list = "Formats:\n";
    for (const ExportFormat& format : export_formats()) list += fmt::format("  {:<11}{}\n", format.name, format.what);
    command->footer(list + "Details: docs/exports.md.");
    return [options] { return export_recording(*options); };
}

std::function<Exit()> add_html(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<HtmlOptions>();
    command = app.add_subcommand("html", "Write a page for a browser: flame graph, functions, callers and callees");
    command
        ->add_option("file", options->report.file, "A recording, or a raw capture; - for standard input")
        ->required();
    command->add_option("-o,--output", options->output, "The page to write")->required();
    command->add_option("--image", options->report.image, "The ELF that was recorded");
    command->add_option("--title", options->title, "The page's title (the recording's name)");
    add_raw(command, options->report);
    return [options] { return html(*options); };
}

std::function<Exit()> add_serve(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ServeOptions>();
    command = app.add_subcommand("serve", "Show a recording, or a target while it runs, in a browser");
    command->add_option("file", options->page.report.file, "A recording, or a raw capture");
    add_line(command, options->line, "The ELF that was recorded, or that runs there");
    command->get_option("--from")->required(false);
    command->add_option("-o,--output", options->output, "Of a line: record it to this file, too");
    command
        ->add_option("--listen", options->listen, "The address and port; port 0 is any that is free")
        ->default_val("127.0.0.1:0");
    command->add_option("--token", options->token,
                        "What each request must bring; other addresses than this machine's own have one in any case");
    command->add_option("--title", options->page.title, "The page's title (the recording's name, or the line)");
    add_raw(command, options->page.report);
    const auto read_steering = add_steering(command, options->line);
    return [options, read_steering] {
        read_steering();
        options->page.report.image = options->line.image;
        return serve(*options);
    };
}

std::function<Exit()> add_info(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<InfoOptions>();
    command = app.add_subcommand("info", "Say what a recording or an image is");
    command->add_option("file", options->file, "A recording, a raw capture, or an ELF")->required();
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    command->add_flag("--sites", options->sites, "Of an ELF: list its patch sites");
    return [options] { return info(*options); };
}

std::function<Exit()> add_check(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<CheckOptions>();
    command = app.add_subcommand("check", "Is every instrumented function of an image traceable?");
    command->add_option("image", options->image, "The ELF")->required();
    command->add_option("--allow", options->allow,
                        "A function whose address may be taken without a landing pad");
    command->add_flag("-v,--verbose", options->verbose, "Name the uninstrumented functions");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options] { return check(*options); };
}

std::function<Exit()> add_names(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<NamesOptions>();
    command = app.add_subcommand("names", "Write an image's name table, for its second link");
    command->add_option("image", options->image, "The ELF")->required();
    command->add_option("-o,--output", options->output, "The assembly source to write");
    return [options] { return names(*options); };
}

std::function<Exit()> add_events(CLI::App& app, CLI::App*& command) {
    command = app.add_subcommand("events", "List the PMU's events that have a name here");
    return [] {
        const std::string list = event_list();
        std::fwrite(list.data(), 1, list.size(), stdout);
        return Exit::ok;
    };
}

int run(int argc, char** argv) {
    CLI::App app("nopscope: a function profiler for arm64 firmware");
    app.set_version_flag("--version", std::string("nopscope ") + version_text);
    app.footer(exit_codes);
    app.require_subcommand(1);
    std::map<CLI::App*, std::function<Exit()>> commands;
    for (auto* add : {add_record, add_top, add_ctl, add_report, add_graph, add_html, add_serve, add_export, add_info, add_check,
                      add_names, add_events}) {
        CLI::App* command = nullptr;
        auto action = add(app, command);
        commands[command] = std::move(action);
    }
    for (const Question& question : questions) {
        CLI::App* command = nullptr;
        auto action = add_question(app, command, question);
        commands[command] = std::move(action);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
    }
    return static_cast<int>(commands.at(app.get_subcommands().front())());
}

}  // namespace

int main(int argc, char** argv) { return nopscope::run_main("nopscope", run, argc, argv); }
