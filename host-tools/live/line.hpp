// SPDX-License-Identifier: Apache-2.0
// A target's line, while it is read: what `record` and the live commands have in common.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/target/control/steering.hpp"
#include "host-tools/target/stream/session.hpp"
#include "host-tools/live/listening.hpp"
#include "host-tools/target/memory/memory_source.hpp"
#include "host-tools/target/transport/source.hpp"

namespace nopscope::host {

struct LineOptions {
    std::string from;   // a URI (docs/cli.md)
    std::string image;  // the ELF that runs there; empty: not known
    MemoryOptions memory;
    SteeringOptions steering;
    bool keep_tracing = false;  // the end of a recording does not stop the target
};

// True if nothing can be sent to the line: a file, standard input, a target's memory.
bool goes_one_way(const LineOptions& options);

// What a person should know, one sentence.
using Say = std::function<void(const std::string&)>;

// Throws Error, as open_source and open_memory_source do; a target's memory goes one way only.
std::unique_ptr<Source> open_line(const LineOptions& options, Way way, const Say& say,
                                  Errors errors = Errors::passed_on);

// Reads in turns: wait(), then take().
class LineReader {
public:
    using Clock = std::chrono::steady_clock;

    LineReader(Source& source, SessionSink& sink)
        : source_(source), reader_(sink), listening_(source) {}

    // Waits for bytes, no longer than that. Touches nothing of the sink's. Throws Error.
    Source::Result wait(std::chrono::milliseconds timeout);
    std::span<const std::uint8_t> bytes() const { return {buffer_.data(), got_.count}; }
    // Tells the sink what has come; text that waits for its end, too, when the line is silent.
    void take(Clock::time_point now);
    // The line was cut: what comes next belongs to nothing that came before.
    void cut();
    void finish() { reader_.finish(); }

    // Listening's: what is wrong while no session was heard.
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
    std::uint64_t emptied_ns_ = 0;   // the last read that took all there was; 0: none did yet
    Arrival arrival_;                // of what was read last
    std::optional<Arrival> begun_;   // of the first byte of a frame that is not over
    Clock::time_point last_byte_ = Clock::now();
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{1} << 16);
};

// Until `turn` says that the line is over; `between` two turns comes what is asked of the target, which may
// itself read to the end.
void read_to_the_end(const std::function<bool()>& turn, const std::function<void()>& between);

// A sink's part that is about the target: refuses one of another image than `symbols` are of (throws Error),
// and hands on what steering it takes.
class TargetSink : public SessionSink {
public:
    explicit TargetSink(const Symbols* symbols) : symbols_(symbols) {}

    void on_session(const HelloInfo& hello) override;
    void on_reply(const protocol::Reply& reply) override;
    void on_trace(unsigned /*core*/, const TraceBatch&) override {}

    Steering* steering = nullptr;

private:
    const Symbols* symbols_;
};

}  // namespace nopscope::host
