// SPDX-License-Identifier: Apache-2.0
// Options of the commands that read a line.
#include "host-tools/base/text.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/cli/commands/top.hpp"

namespace nopscope::host {
namespace {

constexpr double longest_seconds = 1e9;  // 31 years
const std::string rotation_wanted =
    "expected a time from 1s on (90s, 30m, 1h, 7d) or a size from 10kB on (500MB, 1GB), not ";

}  // namespace

Action add_record(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<RecordOptions>();
    command = app.add_subcommand("record", "Record a target's line to a file");
    add_line(command, options->line, "The ELF that runs there: its symbols go into the recording");
    command->add_option("-o,--output", options->output, "The recording to write")->required()->type_name(kind::recording);
    command
        ->add_option("--save-line", options->raw,
                     "Keep the line's bytes, too, as they came: report reads them as well")
        ->type_name(kind::file);
    add_seconds(command, "--duration", options->duration_seconds, 0, longest_seconds, "Stop after so many seconds; 0: never");
    command->add_flag("--until-end,!--no-until-end", options->until_end,
                      "Stop when the target says it has finished (the default)");
    command->add_flag("-q,--quiet", options->quiet, "Show neither console nor progress");
    auto rotate = std::make_shared<std::string>();
    auto keep = std::make_shared<std::uint64_t>(0);
    command->add_option("--rotate", *rotate, "Go on in a new file after this time or size (1h, 500MB); docs/cli.md has their names")
        ->type_name("LIMIT")
        ->check([](const std::string& text) { return read_rotation(text) ? "" : rotation_wanted + for_cell(text); });
    add_count(command, "--keep", *keep, 1, most_rows, "Of --rotate's files keep only so many, the newest");
    const auto read_steering = add_steering(command, options->line);
    return [options, read_steering, rotate, keep] {
        read_steering();
        options->rotation = read_rotation(*rotate);
        if (options->rotation) options->rotation->keep = *keep;
        if (!options->rotation && *keep != 0) throw Error("--keep is for the files of --rotate: give that, too", Exit::usage);
        if (options->rotation && !options->raw.empty()) {
            throw Error(
                "--save-line keeps one file, and --rotate makes several: give one of the two",
                Exit::usage);
        }
        return record(*options);
    };
}

Action add_top(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<TopOptions>();
    auto sort = std::make_shared<std::string>(top::head_of(options->sort));
    command = app.add_subcommand("top", "Watch a running target in the terminal");
    add_line(command, options->live.line, "The ELF that runs there: names of functions");
    command->add_option("-o,--output", options->live.record, "Record the line on the side, too")->type_name(kind::recording);
    add_seconds(command, "--interval", options->interval, 0.1, 3600, "Seconds between two updates (1)");
    std::vector<std::string> columns;
    for (const top::Column column : top::all_columns) columns.emplace_back(top::head_of(column));
    add_word(command, "--sort", *sort, columns, "By this column (now)");
    command
        ->add_option("--idle", options->live.idle,
                     "Functions of a core that has nothing to do, globs (*idle* *wfi* *wait_for_interrupt*)")
        ->type_name(kind::glob);
    add_raw(command, options->raw);
    command->add_flag("--once", options->once, "Print one view; for scripts, no terminal is needed");
    add_seconds(command, "--delay", options->after, 0, longest_seconds,
                "--once: seconds before it begins (2)");
    add_choice(command, "--format", options->format, formats_without_csv, "--once: output");
    add_count(command, "--top", options->top, 1, most_rows, "--once: only the first so many functions");
    const auto read_steering = add_steering(command, options->live.line);
    command->footer("Press ? for its keys. Details: docs/top.md.");
    return [options, sort, read_steering] {
        options->sort = top::column_named(*sort);
        read_steering();
        return watch(*options);
    };
}

Action add_serve(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ServeOptions>();
    command = app.add_subcommand("serve", "Show a recording, or a target while it runs, in a browser");
    CLI::Option* const file = command->add_option("file", options->page.report.file, "A recording, or a raw capture")->type_name(kind::recording);
    add_line(command, options->line, "The ELF that was recorded, or that runs there");
    command->get_option("--from")->required(false);
    command->add_option("-o,--output", options->output, "Of a line: record it to this file, too")->type_name(kind::recording);
    command
        ->add_option("--listen", options->listen, "The address and port; port 0 is any that is free")
        ->default_val("127.0.0.1:0");
    command->add_option("--token", options->token,
                        "What each request must bring; other addresses than this machine's own have one in any case");
    add_source(command, options->page);
    command->add_option("--title", options->page.title, "The page's title (the recording's name, or the line)");
    add_raw(command, options->page.report.raw);
    const auto read_steering = add_steering(command, options->line);
    for (const char* const name : {"--from", "--output", "--memory-base", "--keep-tracing", "--resume"}) {
        file->excludes(command->get_option(name));
    }
    for (CLI::App* const steering : command->get_subcommands({})) {
        for (CLI::Option* const option : steering->get_options()) {
            if (option != steering->get_help_ptr()) file->excludes(option);
        }
    }
    return [options, read_steering] {
        read_steering();
        options->page.report.image = options->line.image;
        return serve(*options);
    };
}

}  // namespace nopscope::host
