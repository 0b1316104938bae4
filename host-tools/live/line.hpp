// SPDX-License-Identifier: Apache-2.0
// Reads a target's line: the part that `record` and the live commands share.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/command/steering.hpp"
#include "host-tools/line/memory/memory_source.hpp"
#include "host-tools/line/stream/session.hpp"
#include "host-tools/line/transport/source.hpp"
#include "host-tools/live/listening.hpp"

namespace nopscope::host {

struct LineOptions {
    std::string from;   // a URI (docs/cli.md)
    std::string image;  // of the firmware that runs on the target; empty: unknown
    MemoryOptions memory;
    SteeringOptions steering;
    bool keep_tracing = false;  // the end of a recording does not stop the target
    // Globs: functions that may break (symbols_of()).
    std::vector<std::string> allow_convention = {};
};

// The image's symbols; nothing: no image is known. Throws Error, also if the image has a patch site
// in a function that a traced call breaks (image/source_lines.hpp).
std::optional<Symbols> symbols_of(const LineOptions& options);

// True if nothing can be sent to the line: a file, standard input, a target's memory.
bool goes_one_way(const LineOptions& options);

// Takes a message for a person, one sentence.
using Say = std::function<void(const std::string&)>;

// Throws Error, as open_source() and open_memory_source() do. A target's memory takes no commands.
std::unique_ptr<Source> open_line(const LineOptions& options, Way way, const Say& say,
                                  Errors errors = Errors::passed_on);

// Reads a line in turns: wait(), then take().
class LineReader {
public:
    using Clock = std::chrono::steady_clock;

    LineReader(Source& source, SessionSink& sink)
        : source_(source), reader_(sink), listening_(source) {}

    // Waits for bytes, at most `timeout`. Does not call the sink. Throws Error.
    Source::Result wait(std::chrono::milliseconds timeout);
    std::span<const std::uint8_t> bytes() const { return {buffer_.data(), got_.count}; }
    // Feeds the bytes to the sink. On a silent line, also shows text that waits for its end.
    void take(Clock::time_point now);
    // The line was lost: the next bytes do not continue the last ones.
    void cut();
    void finish() { reader_.finish(); }

    // What is wrong, while no session was heard (Listening::complaint).
    std::optional<std::string> complaint(Clock::time_point now) {
        return listening_.complaint(reader_, now);
    }
    Diagnosis diagnosis() const { return listening_.diagnosis(reader_, Clock::now()); }
    bool searches() const { return listening_.searches(); }

    const SessionReader& reader() const { return reader_; }

private:
    void feed(std::span<const std::uint8_t> rest);
    void change_rate();

    Source& source_;
    SessionReader reader_;
    Listening listening_;
    using Arrival = SessionReader::Arrival;
    Source::Result got_;
    std::uint64_t emptied_ns_ = 0;  // when the last read began that emptied the line; 0: none
    Arrival arrival_;               // of the last read
    std::optional<Arrival> begun_;  // of the first byte of an unfinished frame
    Clock::time_point last_byte_ = Clock::now();
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{1} << 16);
};

// Calls `turn` until it returns false (the line is over), and `between` after each turn. `between`
// sends commands, and may itself read to the end.
void read_to_the_end(const std::function<bool()>& turn, const std::function<void()>& between);

// The sink's part that knows the target. Refuses a target that runs another image than that of
// `symbols`, or that `figures`, which got the session before, cannot take (throws Error). Passes
// hellos and replies to `steering`.
class TargetSink : public SessionSink {
public:
    explicit TargetSink(const Symbols* symbols, const SessionSink* figures = nullptr)
        : symbols_(symbols), figures_(figures) {}

    void on_session(const HelloInfo& hello) override;
    void on_reply(const protocol::Reply& reply) override;
    void on_trace(unsigned /*core*/, const TraceBatch&) override {}

    Steering* steering = nullptr;

private:
    const Symbols* symbols_;
    const SessionSink* figures_;
};

// Keeps the end of the console's text, which a live view shows besides the profile.
class Watch final : public TargetSink {
public:
    static constexpr std::size_t max_console_bytes = std::size_t{1} << 16;

    using TargetSink::TargetSink;
    void on_console(std::string_view text) override { keep(text); }
    void on_raw_text(std::string_view text) override { keep(text); }

    // Bytes from outside: sanitise before showing.
    const std::string& console() const { return console_; }
    std::uint64_t console_bytes() const { return console_bytes_; }  // received in all

private:
    void keep(std::string_view text) {
        console_bytes_ += text.size();
        console_ += text.substr(text.size() - std::min(text.size(), max_console_bytes));
        if (console_.size() > 2 * max_console_bytes)
            console_.erase(0, console_.size() - max_console_bytes);
    }

    std::string console_;  // up to twice max_console_bytes, so that erase() is rare
    std::uint64_t console_bytes_ = 0;
};

}  // namespace nopscope::host
