// SPDX-License-Identifier: Apache-2.0
// The nopscope command: options in, one function call out, errors caught here and nowhere else.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

#include "host-tools/base/pmu_events.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/examples.hpp"
#include "host-tools/cli/reference.hpp"
#include "host-tools/commands/commands.hpp"
#include "host-tools/commands/top.hpp"
#include "host-tools/control_options.hpp"
#include "host-tools/export/formats.hpp"
#include "host-tools/version.hpp"

namespace {

using namespace nopscope;

constexpr char exit_codes[] =
    "Exit codes: 0 done; 1 what was checked is not well (check, doctor, diff --fail-above); 2 wrong\n"
    "usage; 3 a file, port or image cannot be used; 4 record: the command behind exec: failed.\n"
    "Details: docs/cli.md.";

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
    command->footer("Press ? for its keys. Details: docs/top.md.");
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
                      "Sum formats: times as recorded, with the recording overhead left in");
    command->add_flag("--cut-tracer", options->cut_tracer,
                      "Event formats: stop the clock while a core works for the tracer, so that durations are those of "
                      "report --raw; one core only");
    std::string list = "Formats:\n";
    for (const ExportFormat& format : export_formats()) list += fmt::format("  {:<11}{}\n", format.name, format.what);
    command->footer(list + "Details: docs/exports.md.");
    return [options] { return export_recording(*options); };
}

// "5%" or "5".
double percent_of(const std::string& text) {
    const std::string number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
    double percent = -1;
    if (!CLI::detail::lexical_cast(number, percent) || !(percent >= 0)) {
        throw Error(fmt::format("--fail-above {}: a percentage is wanted, such as 5%", text), Exit::usage);
    }
    return percent;
}

std::function<Exit()> add_diff(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DiffOptions>();
    auto fail_above = std::make_shared<std::string>();
    command = app.add_subcommand("diff", "Show what became slower, faster, new, or gone");
    command->add_option("before", options->before, "Recordings before the change")->required();
    command->add_option("--after", options->after, "Recordings after it; -- is short for this");
    command->add_option("--fail-above", *fail_above, "Exit with 1 when a function, or all together, is more than so much slower (5%)");
    command->add_option("--min-share", options->min_percent, "Only functions and paths of so many percent of the time (0.1)")
        ->check(CLI::Range(0.0, 100.0));
    command->add_option("--top", options->most, "Only the first so many rows of each table (30)");
    command->add_option("--image", options->report.image, "The ELF that was recorded, if they carry no symbols");
    const std::map<std::string, DiffOptions::Format> kinds{
        {"text", DiffOptions::text}, {"json", DiffOptions::json}, {"folded", DiffOptions::folded}};
    add_choice(command, "--format", options->format, kinds, "Output; folded is for flamegraph.pl");
    command->add_option("--html", options->page, "Write a page with a differential flame graph, too");
    add_raw(command, options->report);
    return [options, fail_above] {
        if (!fail_above->empty()) options->fail_above = percent_of(*fail_above);
        if (options->after.empty() && options->before.size() == 2) {
            options->after.push_back(options->before.back());
            options->before.pop_back();
        }
        if (options->after.empty()) {
            throw Error("diff: two recordings are wanted, or several before and after --", Exit::usage);
        }
        return diff(*options);
    };
}

std::function<Exit()> add_query(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<QueryOptions>();
    command = app.add_subcommand("query", "Ask a recording in SQL");
    command->add_option("file", options->report.file, "A recording, a raw capture, or a database that `export --to sqlite` wrote")
        ->required();
    command->add_option("sql", options->sql, "One statement; the tables are in docs/exports.md")->required();
    command->add_option("--image", options->report.image, "The ELF that was recorded");
    add_choice(command, "--format", options->report.format, formats, "Output");
    return [options] { return query(*options); };
}

// With --image a page has the hottest functions' instructions.
void add_source(CLI::App* command, HtmlOptions& options) {
    command->add_flag("!--no-source", options.source, "Instructions without the text of source files");
    command->add_option("--source-root", options.source_roots,
                        "Where source files with a relative name are looked for (.); PREFIX=DIRECTORY: what stands for PREFIX/ "
                        "in their names; may be repeated");
}

std::function<Exit()> add_html(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<HtmlOptions>();
    command = app.add_subcommand("html", "Write a page for a browser: flame graph, timeline, functions, callers and callees");
    command
        ->add_option("file", options->report.file, "A recording, or a raw capture; - for standard input")
        ->required();
    command->add_option("-o,--output", options->output, "The page to write")->required();
    command->add_option("--image", options->report.image,
                        "The ELF that was recorded: then the page has the hottest functions' instructions and source lines, too");
    add_source(command, *options);
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
    add_source(command, options->page);
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

std::function<Exit()> add_doctor(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DoctorOptions>();
    command = app.add_subcommand("doctor", "Look whether ports, tools and images are as they should be");
    command->add_option("--from", options->from, "Listen to this line, too: is a target on it, at this rate?");
    command->add_option("--image", options->image, "Look at this ELF, too");
    command->add_option("--seconds", options->seconds, "How long to listen (3)")->check(CLI::PositiveNumber);
    command->add_option("--devices", options->devices, "Where serial ports are (/dev)");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options] {
        options->defaults_file = defaults_file();
        return doctor(*options);
    };
}

// Hidden: of the build.
std::function<Exit()> add_reference(CLI::App& app, CLI::App*& command) {
    auto directory = std::make_shared<std::string>();
    command = app.add_subcommand("reference", "Write man pages and completions")->group("");
    command->add_option("directory", *directory, "Where share/ is")->required();
    return [&app, directory] {
        write_reference(app, *directory);
        return Exit::ok;
    };
}

int run(int argc, char** argv) {
    CLI::App app("nopscope: a function profiler for arm64 firmware", "nopscope");
    app.set_version_flag("--version", std::string("nopscope ") + version_text);
    std::string board;  // with_defaults() has taken it
    app.add_option("--board", board, "Defaults of this board, from nopscope.toml");
    app.footer(exit_codes);
    app.require_subcommand(1);
    std::map<CLI::App*, std::function<Exit()>> commands;
    for (auto* add : {add_record, add_top, add_ctl, add_report, add_graph, add_html, add_serve, add_export, add_diff, add_query,
                      add_info, add_check, add_names, add_events, add_doctor, add_reference}) {
        CLI::App* command = nullptr;
        auto action = add(app, command);
        commands[command] = std::move(action);
    }
    for (const Question& question : questions) {
        CLI::App* command = nullptr;
        auto action = add_question(app, command, question);
        commands[command] = std::move(action);
    }
    for (const auto& [command, action] : commands) command->footer(examples_of(command->get_name()) + "\n" + command->get_footer());
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words[0] == "diff") std::replace(words.begin(), words.end(), std::string("--"), std::string("--after"));
    words = with_defaults(app, std::move(words), defaults_file());
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
    }
    return static_cast<int>(commands.at(app.get_subcommands().front())());
}

}  // namespace

int main(int argc, char** argv) { return nopscope::run_main("nopscope", run, argc, argv); }
