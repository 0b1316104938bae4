// SPDX-License-Identifier: Apache-2.0
// `replay` lists the calls and returns of a recording, or of a line, in the order in which they
// happened.
#include <chrono>
#include <optional>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/or_throw.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/calls/moves_in_order.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/line/stream/tee.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/views/text/replay.hpp"

namespace nopscope::host {
namespace {

struct ReplayOptions {
    ReportOptions report;  // file, image, part, calls
    unsigned levels = 0;
    bool follow = false;
    std::string from;  // the line to follow
};

// Reads the line until it ends, or until Ctrl-C.
void read_line(const ReplayOptions& options, const Symbols* symbols, SessionSink& sink,
               const std::function<void()>& after_each_turn) {
    using namespace std::chrono_literals;
    MovesInOrder in_order(sink);
    TargetSink target(symbols, &in_order);
    Tee tee(in_order, target);
    LineOptions line_options;
    line_options.from = options.from;
    catch_interrupts();
    const auto source =
        open_line(line_options, Way::in, [](const std::string& sentence) { say(sentence); });
    LineReader line(*source, tee);
    for (bool is_open = true; is_open && !interrupted();) {
        is_open = !line.wait(50ms).closed;
        const auto now = LineReader::Clock::now();
        line.take(now);
        if (const auto wrong = line.complaint(now)) say(*wrong);
        after_each_turn();
    }
    source->close();
    line.finish();
    if (line.reader().counters().sessions == 0)
        throw Error("nothing was heard: " + line.diagnosis().sentence());
}

void follow(const ReplayOptions& options, ReplayText& text) {
    if (options.report.part.time.needs_bounds()) {
        throw Error("--follow: a marker, or a time before the end, needs a recording", Exit::usage);
    }
    std::optional<Symbols> image;
    if (!options.report.image.empty())
        image = read_symbols(ElfFile::open(options.report.image), DebugFile::gives_names);
    const auto symbols = [&image] { return image ? &*image : nullptr; };
    if (!image) say("no names without --image ELF");
    SelectedCalls selected(text, options.report.calls);
    EventSink& sink = options.report.calls.all() ? static_cast<EventSink&>(text) : selected;
    CallFeed feed(sink, symbols, options.from, std::nullopt);
    Profile profile;
    profile.tell(feed);
    profile.tell_feed_only();
    profile.show(or_throw(PartFilter::of(options.report.part, symbols)));
    read_line(options, symbols(), profile, [&] {
        text.flush();
        standard_output().flush();
    });
    or_throw(profile.part().check());
    sink.finish();
}

Exit replay(const ReplayOptions& options) {
    if (options.follow && (options.from.empty() || !options.report.file.empty()))
        throw Error("replay --follow: expected --from URI, and no file", Exit::usage);
    if (!options.follow && options.report.file.empty())
        throw Error("replay: expected a recording, or --follow --from URI", Exit::usage);
    ReplayText text([](std::string_view line) { print(line); }, options.levels);
    if (options.follow) {
        follow(options, text);
    } else {
        stream_into(text, options.report, std::nullopt);
    }
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
                     "nopscope replay --follow --from serial:/dev/ttyUSB0 --image firmware.elf"});
    add_recording(command, options->report)->required(false);
    add_kept_functions(command, options->report);
    add_count(command, "--levels", options->levels, 1, most_rows, "Only so many levels of calls");
    command->add_flag("--follow", options->follow,
                      "List what arrives on a line, until it ends or until Ctrl-C");
    add_from(command, options->from);
    return [options] { return replay(*options); };
}

}  // namespace nopscope::host
