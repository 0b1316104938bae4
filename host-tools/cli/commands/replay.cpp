// SPDX-License-Identifier: Apache-2.0
// `replay` lists the calls and returns of a recording in the order in which they happened.
#include <fmt/format.h>

#include <optional>

#include "host-tools/base/output.hpp"
#include "host-tools/base/say.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/text/replay.hpp"

namespace nopscope::host {
namespace {

struct ReplayOptions {
    ReportOptions report;  // file, image, part, calls
    unsigned levels = 0;
};

Exit replay(const ReplayOptions& options) {
    print("#      seconds       took us   core  call\n");
    ReplayText text([](std::string_view line) { print(line); }, options.levels);
    stream_into(text, options.report, std::nullopt);
    if (text.late_lines() != 0) {
        say(fmt::format("{} lines stand later than their time: their records came too late",
                        with_commas(text.late_lines())));
    }
    return Exit::ok;
}

}  // namespace

Action add_replay(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReplayOptions>();
    command =
        add_command(app, "replay", "List calls and returns in the order in which they happened",
                    {"nopscope replay run.nsc --time 10ms..10.2ms",
                     "nopscope replay run.nsc --under main --levels 3",
                     "nopscope replay run.nsc --min-duration 1ms"});
    add_recording(command, options->report);
    add_kept_functions(command, options->report);
    add_count(command, "--levels", options->levels, 1, most_rows, "Only so many levels of calls");
    return [options] { return replay(*options); };
}

}  // namespace nopscope::host
