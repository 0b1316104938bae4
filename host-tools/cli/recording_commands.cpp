// SPDX-License-Identifier: Apache-2.0
// Options of the commands that read a recording.
#include <fmt/format.h>

#include "host-tools/cli/options.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

struct Question {
    const char* name;
    const char* help;
    const char* function;  // what is said of its argument; null: it has none
    Exit (*ask)(const FunctionQueryOptions&);
};

const std::map<std::string, SortKey> sort_keys{{"self", SortKey::self},
                                               {"total", SortKey::total},
                                               {"calls", SortKey::calls},
                                               {"max", SortKey::max}};

Action add_function_query(CLI::App& app, CLI::App*& command, const Question& question) {
    auto options = std::make_shared<FunctionQueryOptions>();
    command = app.add_subcommand(question.name, question.help);
    add_recording(command, options->report);
    if (question.function != nullptr) {
        command->add_option("function", options->function, question.function)->required()->type_name(kind::glob);
    }
    add_choice(command, "--format", options->report.format, formats_without_csv, "Output");
    if (question.ask == outliers) {
        add_count(command, "--top", options->count, 1, 1000, "How many (3)");
        add_percent(command, "--min-share", options->min_percent, "Of a call's tree only what took so many percent of it (1)");
    } else {
        add_raw(command, options->report.raw);
    }
    return [options, ask = question.ask] { return ask(*options); };
}

// "5%" or "5".
CLI::Validator percentage() {
    return {[number = real_number(0, 1e6, "percent")](std::string& text) {
                if (text.ends_with('%')) text.pop_back();
                return number(text);
            },
            ""};
}

constexpr char name_or_glob[] = "Its name, or a glob of names";

}  // namespace

CLI::Option* add_recording(CLI::App* command, ReportOptions& options, const char* image_help) {
    command->add_option("--image", options.image, image_help)->type_name(kind::elf);
    return command->add_option("file", options.file, "A recording, or a raw capture; - for standard input")
        ->required()
        ->type_name(kind::recording);
}

CLI::Option* add_percent(CLI::App* app, const std::string& name, double& value, const std::string& help) {
    return app->add_option(name, value, help)->transform(real_number(0, 100, "percent"))->type_name("PERCENT");
}

CLI::Option* add_seconds(CLI::App* app, const std::string& name, double& value, double least, double most, const std::string& help) {
    return app->add_option(name, value, help)->transform(real_number(least, most, "seconds"))->type_name("SECONDS");
}

CLI::Option* add_word(CLI::App* app, const std::string& name, std::string& value, const std::vector<std::string>& words,
                      const std::string& help) {
    return app->add_option(name, value, help)->transform(one_of(words))->type_name(choices(words));
}

void add_raw(CLI::App* command, bool& raw) {
    command->add_flag("--raw", raw, "Show times as recorded, with what recording took in them");
}

void add_yes(CLI::App* command, bool& yes) {
    command->add_flag("--yes", yes, "Write an output of more than 1 GB, too");
}

void add_source(CLI::App* command, HtmlOptions& options) {
    command->add_flag("!--no-source", options.source, "Instructions without the text of source files");
    command
        ->add_option("--source-root", options.source_roots,
                     "Where source files with a relative name are looked for (.); PREFIX=DIRECTORY: what stands for PREFIX/ "
                     "in their names; may be repeated")
        ->type_name(kind::directory);
}

Action add_report(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReportOptions>();
    command = app.add_subcommand("report", "Show where the time went, by function");
    add_recording(command, *options);
    add_choice(command, "--format", options->format, formats, "Output");
    add_choice(command, "--sort", options->sort, sort_keys, "Order, largest first");
    add_count(command, "--top", options->top, 1, most_rows, "Only the first so many functions");
    add_raw(command, options->raw);
    return [options] { return report(*options); };
}

Action add_graph(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReportOptions>();
    auto percent = std::make_shared<double>(0);
    command = app.add_subcommand("graph", "Show the call tree with times");
    add_recording(command, *options);
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    add_count(command, "--levels", options->graph.depth, 1, most_rows, "Only so many levels");
    add_percent(command, "--min-share", *percent, "Only paths with so many percent of the time");
    add_raw(command, options->raw);
    add_yes(command, options->yes);
    return [options, percent] {
        options->graph.min_share = *percent / 100;
        return graph(*options);
    };
}

Action add_callers(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"callers", "Who calls a function, how often and for how long", name_or_glob, callers});
}
Action add_callees(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"callees", "What a function calls, how often and for how long", name_or_glob, callees});
}
Action add_latency(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"latency", "How long a function's calls take, as a distribution", name_or_glob, latency});
}
Action add_outliers(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"outliers", "The slowest calls of a function, each with what it called", name_or_glob, outliers});
}
Action add_irq(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"irq", "How long interrupts take, and how long they are masked", nullptr, irq});
}
Action add_stack_depth(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command, {"stack-depth", "How deep calls get, and on which path", nullptr, stack_depth});
}

Action add_export(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ExportOptions>();
    command = app.add_subcommand("export", "Write a recording in another tool's format");
    add_recording(command, options->report);
    std::vector<std::string> names;
    std::string list = "Formats:\n";
    for (const ExportFormat& format : export_formats()) {
        names.emplace_back(format.name);
        list += fmt::format("  {:<11}{}\n", format.name, format.what);
    }
    add_word(command, "--format", options->format, names, "The format")->required();
    command->add_option("-o,--output", options->output, "The file or directory to write")->required()->type_name(kind::file);
    command->add_flag("--raw", options->report.raw,
                      "Sum formats: times as recorded, with the recording overhead left in");
    command->add_flag("--cut-tracer", options->cut_tracer,
                      "Event formats: stop the clock while a core works for the tracer, so that durations are those of "
                      "report --raw; one core only");
    add_yes(command, options->yes);
    command->footer(list + "Details: docs/exports.md.");
    return [options] { return export_recording(*options); };
}

Action add_diff(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DiffOptions>();
    command = app.add_subcommand("diff", "Show what became slower, faster, new, or gone");
    command->add_option("before", options->before, "Recordings before the change")->required()->type_name(kind::recording);
    command->add_option("--after", options->after, "Recordings after it; -- is short for this")->type_name(kind::recording);
    command
        ->add_option("--fail-above", options->fail_above, "Exit with 1 when a function, or all together, is more than so much slower (5%)")
        ->transform(percentage())
        ->type_name("PERCENT");
    add_percent(command, "--min-share", options->min_percent, "Only functions and paths of so many percent of the time (0.1)");
    add_count(command, "--top", options->most, 1, most_rows, "Only the first so many rows of each table (30)");
    command->add_option("--image", options->report.image, "The ELF that was recorded, if they carry no symbols")->type_name(kind::elf);
    const std::map<std::string, DiffOptions::Format> kinds{
        {"text", DiffOptions::text}, {"json", DiffOptions::json}, {"folded", DiffOptions::folded}};
    add_choice(command, "--format", options->format, kinds, "Output; folded is for flamegraph.pl");
    command->add_option("--html", options->page, "Write a page with a differential flame graph, too")->type_name(kind::file);
    add_raw(command, options->report.raw);
    add_yes(command, options->yes);
    return [options] {
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

Action add_query(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<QueryOptions>();
    command = app.add_subcommand("query", "Ask a recording in SQL");
    add_recording(command, options->report)
        ->description(
            "A recording, a raw capture, or a database that `export --format sqlite` wrote");
    command->add_option("sql", options->sql, "One statement; the tables are in docs/exports.md")->required();
    add_choice(command, "--format", options->report.format, formats, "Output");
    return [options] { return query(*options); };
}

Action add_html(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<HtmlOptions>();
    command = app.add_subcommand("html", "Write a page for a browser: flame graph, timeline, functions, callers and callees");
    add_recording(command, options->report,
                  "The ELF that was recorded: then the page has the hottest functions' instructions and source lines, too");
    command->add_option("-o,--output", options->output, "The page to write")->required()->type_name(kind::file);
    add_source(command, *options);
    command->add_option("--title", options->title, "The page's title (the recording's name)");
    add_raw(command, options->report.raw);
    add_yes(command, options->yes);
    return [options] { return html(*options); };
}

}  // namespace nopscope::host
