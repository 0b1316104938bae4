// SPDX-License-Identifier: Apache-2.0
// Options of the commands that read a line.
#include "host-tools/cli/control_options.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/commands/top.hpp"

namespace nopscope {

Action add_record(CLI::App& app, CLI::App*& command) {
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

Action add_top(CLI::App& app, CLI::App*& command) {
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

Action add_serve(CLI::App& app, CLI::App*& command) {
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
    add_raw(command, options->page.report.raw);
    const auto read_steering = add_steering(command, options->line);
    return [options, read_steering] {
        read_steering();
        options->page.report.image = options->line.image;
        return serve(*options);
    };
}

}  // namespace nopscope
