// SPDX-License-Identifier: Apache-2.0
// `record` records a line to a file, and shows the firmware's console on standard output meanwhile.
//
// The recorder decodes the line once and writes to the file at least four times a second, so a
// killed recorder loses at most a quarter of a second. --save-line also saves the line's raw bytes.
#include <chrono>
#include <set>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/new_file.hpp"
#include "host-tools/base/same_file.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/command/ending.hpp"
#include "host-tools/line/stream/damage.hpp"
#include "host-tools/line/stream/diagnosis.hpp"
#include "host-tools/line/stream/tee.hpp"
#include "host-tools/live/live_recording.hpp"
#include "host-tools/live/screen.hpp"
#include "host-tools/live/series.hpp"
#include "host-tools/views/text/head.hpp"

namespace nopscope::host {
namespace {

const std::string rotation_wanted =
    "expected a time from 1s on (90s, 30m, 1h, 7d) or a size from 10kB on (500MB, 1GB), not ";

struct RecordOptions {
    LineOptions line;
    std::string output;
    std::string raw;                   // a second file, for the line's raw bytes; empty: none
    double duration_seconds = 0;       // 0: no limit
    bool until_end = true;             // stop when every core has sent its final stats
    bool quiet = false;                // neither console nor progress
    std::optional<Rotation> rotation;  // with it, `output` names a series of files
};

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Monitor final : public TargetSink {
public:
    Monitor(Screen& screen, const Symbols* symbols) : TargetSink(symbols), screen_(screen) {}

    void on_session(const HelloInfo& hello) override {
        TargetSink::on_session(hello);
        for (const std::string& sentence : shortcomings(hello)) {
            if (told_.insert(sentence).second) screen_.say(sentence);
        }
    }
    void on_trace(unsigned /*core*/, const TraceBatch& batch) override {
        events_ += batch.records.size();
    }
    void on_console(std::string_view text) override { screen_.console(text); }
    void on_raw_text(std::string_view text) override { screen_.console(text); }

    void progress(const SessionReader& reader, Clock::time_point now) {
        if (now - drawn_ < 250ms || !screen_.wants_progress()) return;
        const std::chrono::duration<double> past = now - drawn_;
        const double rate = static_cast<double>(events_ - events_drawn_) / past.count();
        drawn_ = now;
        events_drawn_ = events_;
        const StreamCounters stream = reader.counters();
        screen_.progress(fmt::format(
            "{} events, {:.0f} k/s, {} bytes of the line, dropped {}, lost {}, corrupt {}",
            with_commas(events_), rate / 1000, with_commas(reader.line().bytes),
            with_commas(stream.dropped), with_commas(stream.lost), reader.line().corrupt_frames));
    }

private:
    Screen& screen_;
    std::set<std::string> told_;  // say each once: a target may begin many sessions
    std::uint64_t events_ = 0;
    std::uint64_t events_drawn_ = 0;
    Clock::time_point drawn_ = Clock::now();
};

// After the final stats, `record` waits this long for a target that ends by itself.
constexpr auto linger = 2s;
// After SIGTERM or SIGHUP, `record` does not read out a target that sends no frame for this long.
// With the second that exec: waits, the recorder ends within two seconds.
constexpr auto end_silence = 800ms;

// Refuses an input that this recording would rename or remove: the .old or .part file of an output.
void guard_inputs(const RecordOptions& options) {
    std::vector<std::string> inputs{options.line.image, options.raw};
    if (options.line.from.starts_with("file:")) inputs.push_back(options.line.from.substr(5));
    for (const std::string& output : {options.output, options.raw}) {
        if (output.empty()) continue;
        for (const std::string& beside : {old_name(output), part_name(output)})
            refuse_if_same(beside, inputs);
    }
}

// Everything that receives the line's data: files, console and progress.
struct Destination {
    const RecordOptions& options;
    const Symbols* symbols;                    // null: there is no image
    std::unique_ptr<NewFile> raw;              // --save-line: its first byte replaces an older file
    std::optional<Series> series;              // --rotate
    std::unique_ptr<LiveRecording> recording;  // the current file
    Clock::time_point recording_began = Clock::now();
    std::uint64_t files_before = 0;  // complete files of the series
    std::uint64_t bytes_before = 0;  // bytes of these files
    Monitor monitor;
    DamagedChunks damaged;
    Ending ending;
    Tee tee;
    std::optional<LineReader> line;  // once it is open

    Destination(const RecordOptions& of, const Symbols* known_symbols, Screen& screen)
        : options(of),
          symbols(known_symbols),
          raw(options.raw.empty() ? nullptr : std::make_unique<NewFile>(options.raw)),
          series(options.rotation ? std::optional(Series(options.output, *options.rotation))
                                  : std::nullopt),
          recording(next_recording()),
          monitor(screen, symbols),
          tee(recording->sink(), monitor) {
        tee.add(ending);
        tee.add(damaged);
    }
    // Throws Error.
    std::unique_ptr<LiveRecording> next_recording() const {
        return std::make_unique<LiveRecording>(series ? series->next_name() : options.output,
                                               options.line.from, symbols);
    }
    const SessionReader& reader() const { return line->reader(); }
    // Ends the file and continues in the next one, if the rotation is due. If it throws Error, the
    // current file is unchanged.
    void rotate_if_due(Clock::time_point now, Screen& screen) {
        if (!series || !recording->has_file()) return;
        if (!series->is_due(now - recording_began, recording->file_bytes())) return;
        if (recording->line(reader()).frames == 0) return;  // a silent line makes no empty files
        std::unique_ptr<LiveRecording> next = next_recording();
        recording->end(reader(), nsc::EndReason::rotated, std::nullopt);
        next->begin_after(*recording, reader());
        tee.remove(recording->sink());
        tee.add(next->sink());
        ++files_before;
        bytes_before += recording->file_bytes();
        screen.say(fmt::format("{}: {} bytes; now {}", recording->path(),
                               with_commas(recording->file_bytes()), next->path()));
        recording = std::move(next);
        recording_began = now;
        series->remove_oldest();
    }
    // "run.nsc: 4,711 bytes"
    std::string written() const {
        std::string name = recording->path();
        if (!recording->has_file()) name += " (not written)";
        if (files_before != 0) name += fmt::format(" and {} before it", with_commas(files_before));
        return fmt::format(
            "{}: {} bytes", name,
            with_commas(bytes_before + (recording->has_file() ? recording->file_bytes() : 0)));
    }
};

class Recording {
public:
    Recording(Destination& to, const RecordOptions& options, Screen& screen)
        : to_(to), options_(options), screen_(screen) {}

    // Reads from the line once. False: the recording is over.
    bool turn() {
        if (is_ending_) return turn_of_the_end();
        if (reason_) return false;
        const auto now = Clock::now();
        const bool closed = read(interrupted() ? 0ms : 50ms);
        if (!over_) over_since_ = now;
        over_ = to_.reader().recording_is_over();
        reason_ = why_end(closed, now);
        return !reason_;
    }
    // Valid once turn() has returned false.
    nsc::EndReason reason() const { return *reason_; }

    // Returns true if the host chose the end. Then turn() reads on until the line closes, the
    // target is silent, or a person gives up.
    bool begin_end() {
        const bool chosen =
            *reason_ == nsc::EndReason::interrupted || *reason_ == nsc::EndReason::duration;
        is_ending_ = chosen && !over_ && to_.reader().has_session();
        // The first Ctrl-C chose the end. A second one gives up, even if it came before this.
        interruptions_ = *reason_ == nsc::EndReason::interrupted ? 1 : interruptions();
        heard_ = Clock::now();
        return is_ending_;
    }
    bool was_given_up() const { return interruptions() > interruptions_; }
    // True if the recorder gave up waiting: after a signal the target sent no frame (end_silence).
    bool was_silent() const { return was_silent_; }

private:
    // Returns true if the line is closed.
    bool read(std::chrono::milliseconds timeout) {
        const Source::Result got = to_.line->wait(timeout);
        const auto now = Clock::now();
        if (to_.raw && got.count != 0) {
            to_.raw->write(to_.line->bytes());
            to_.raw->take_place();
        }
        to_.line->take(now);
        to_.recording->flush_if_due(to_.reader(), now);
        to_.rotate_if_due(now, screen_);
        if (const auto wrong = to_.line->complaint(now)) screen_.say(*wrong);
        to_.monitor.progress(to_.reader(), now);
        return got.closed;
    }
    bool turn_of_the_end() {
        if (is_closed_ || was_given_up() || was_silent_) return false;
        const std::uint64_t frames = to_.reader().line().frames;
        is_closed_ = read(50ms);
        if (frames != to_.reader().line().frames) heard_ = Clock::now();
        was_silent_ = was_told_to_end() && Clock::now() - heard_ > end_silence;
        return !is_closed_;
    }
    std::optional<nsc::EndReason> why_end(bool closed, Clock::time_point now) const {
        if (interrupted()) return nsc::EndReason::interrupted;
        if (closed) return over_ ? nsc::EndReason::target_finished : nsc::EndReason::line_closed;
        if (over_ && options_.until_end && now - over_since_ > linger) {
            return nsc::EndReason::target_finished;
        }
        if (options_.duration_seconds > 0 &&
            now - start_ >= std::chrono::duration<double>(options_.duration_seconds)) {
            return nsc::EndReason::duration;
        }
        return std::nullopt;
    }

    Destination& to_;
    const RecordOptions& options_;
    Screen& screen_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point over_since_ = start_;
    bool over_ = false;
    std::optional<nsc::EndReason> reason_;
    bool is_ending_ = false;
    bool is_closed_ = false;
    int interruptions_ = 0;    // their number when the end began
    Clock::time_point heard_;  // the last frame, once the end has begun
    bool was_silent_ = false;
};

// Reads out the target. False: data did not come, and a sentence on the screen has said so.
bool end_recording(Destination& to, Recording& recording, Steering* steering,
                   const RecordOptions& options, const Say& say) {
    if (!recording.begin_end()) return true;
    if (steering == nullptr || !(to.ending.can_ask() || options.line.steering.steers())) {
        if (const std::string sentence = to.ending.unread(); !sentence.empty()) say(sentence);
        return true;
    }
    const Ending::Line line{.client = steering->client(),
                            .turn = [&] { return recording.turn(); },
                            .frames = [&] { return to.reader().line().frames; },
                            .tell = [&](const ClockPair& pair) { to.tee.on_clock_pair(pair); }};
    const std::string sentence = to.ending.run(line, options.line.keep_tracing);
    if (recording.was_silent()) {
        say("the target sent nothing after the signal, so it was not read out: what it has counted "
            "since it was last read is not in the recording");
    } else if (!sentence.empty()) {
        say(sentence);
    }
    return sentence.empty() || recording.was_given_up();
}

Exit record_line(const RecordOptions& options, const Symbols* symbols, Screen& screen) {
    const Say say = [&](const std::string& sentence) { screen.say(sentence); };
    const bool steers = options.line.steering.steers();
    // Open the files first: if that fails, no target has started.
    guard_inputs(options);
    Destination to(options, symbols, screen);
    const bool one_way = goes_one_way(options.line) && !steers;  // else open_line() may throw
    const auto source = open_line(options.line, one_way ? Way::in : Way::both, say);
    to.line.emplace(*source, to.tee);
    Recording recording(to, options, screen);
    const auto turn = [&] { return recording.turn(); };
    std::optional<Steering> steering;
    bool all_came = true;
    try {
        if (!one_way) {
            steering.emplace(*source, symbols, options.line.steering, turn, say);
            to.monitor.steering = &*steering;
        }
        read_to_the_end(turn, [&] {
            if (steers) steering->serve(to.reader().counters().gaps);
        });
        all_came = end_recording(to, recording, steering ? &*steering : nullptr, options, say);
        if (const std::string why = steering ? steering->unserved() : ""; !why.empty()) {
            say(why);
            all_came = false;
        }
    } catch (const Error&) {
        to.recording->flush(to.reader());
        throw;
    }
    const std::string others = source->others();
    const bool is_empty = to.reader().counters().sessions == 0;
    const std::string why_silent = is_empty ? to.line->diagnosis().sentence() : "";
    const std::optional<int> status = source->close();
    to.line->finish();
    to.recording->end(to.reader(), recording.reason(), status);
    const LineCounters& line = to.reader().line();
    const StreamCounters stream = to.reader().counters();
    say(fmt::format("{}, from {} bytes of the line; {} events in {} session{}; dropped {}, "
                    "lost {}, corrupt_frames {}, gaps {}",
                    to.written(), with_commas(line.bytes), with_commas(stream.delivered),
                    stream.sessions, stream.sessions == 1 ? "" : "s", with_commas(stream.dropped),
                    with_commas(stream.lost), line.corrupt_frames, stream.gaps) +
        (stream.shadow_stack_full == 0
             ? ""
             : fmt::format("; {} are missing: build the firmware with more NOPSCOPE_SHADOW_FRAMES",
                           beyond_shadow_stack(stream.shadow_stack_full))));
    if (const std::string sentence = to.damaged.sentence(line, stream, others);
        !is_empty && !sentence.empty())
        say("the line: " + sentence);
    if (is_empty && stream.refused_version == 0) say("nothing was recorded: " + why_silent);
    if (status.value_or(0) != 0) {
        say(fmt::format("the command ended with exit status {}", *status));
        return Exit::target_failed;
    }
    if (stream.refused_version != 0) {
        const std::string sentence = refused_version_sentence(stream.refused_version);
        if (is_empty) throw Error(sentence);
        say(sentence + ": its sessions were left out");
    }
    if (is_empty) return Exit::nothing_recorded;
    return all_came ? Exit::ok : Exit::input;
}

Exit record(const RecordOptions& options) {
    const std::optional<Symbols> symbols = symbols_of(options.line);
    options.line.steering.check_names(symbols ? &*symbols : nullptr);
    catch_interrupts();
    Screen screen(options.quiet);
    Exit exit{};
    try {
        exit = record_line(options, symbols ? &*symbols : nullptr, screen);
    } catch (const Error& error) {
        screen.say(error.what());
        exit = error.code();
    }
    const bool shown = screen.finish();
    return exit == Exit::ok && !shown ? Exit::input : exit;
}

}  // namespace

Action add_record(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<RecordOptions>();
    command = add_command(
        app, "record", "Record a target's line to a file",
        {"nopscope record --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf -o run.nsc",
         "nopscope record --from tcp:localhost:4444 --image firmware.elf --trace 'lua_*' --depth 5 "
         "-o run.nsc",
         "nopscope record --from exec:'qemu-system-aarch64 -M virt -cpu max -nographic -kernel "
         "firmware.elf' -o run.nsc"});
    add_line(command, options->line, "The ELF that runs there: its symbols go into the recording");
    add_value(command, "-o,--output", options->output, kind::recording, "The recording to write")
        ->required();
    add_value(command, "--save-line", options->raw, kind::file,
              "Keep the line's bytes, too, as they came: report reads them as well");
    add_seconds(command, "--duration", options->duration_seconds, 0, longest_seconds,
                "Stop after so many seconds; 0: never");
    command->add_flag("--until-end,!--no-until-end", options->until_end,
                      "Stop when the target says it has finished (the default)");
    command->add_flag("-q,--quiet", options->quiet, "Show neither console nor progress");
    auto rotate = std::make_shared<std::string>();
    auto keep = std::make_shared<std::uint64_t>(0);
    command
        ->add_option(
            "--rotate", *rotate,
            "Go on in a new file after this time or size (1h, 500MB); docs/cli.md has their names")
        ->type_name("LIMIT")
        ->check([](const std::string& text) {
            return read_rotation(text) ? "" : rotation_wanted + for_cell(text);
        });
    add_count(command, "--keep", *keep, 1, most_rows,
              "Of --rotate's files keep only so many, the newest");
    const auto read_steering = add_steering(command, options->line);
    return [options, read_steering, rotate, keep] {
        read_steering();
        options->rotation = read_rotation(*rotate);
        if (options->rotation) options->rotation->keep = *keep;
        if (!options->rotation && *keep != 0)
            throw Error("--keep is for the files of --rotate: give that, too", Exit::usage);
        if (options->rotation && !options->raw.empty()) {
            throw Error(
                "--save-line keeps one file, and --rotate makes several: give one of the two",
                Exit::usage);
        }
        return record(*options);
    };
}

}  // namespace nopscope::host
