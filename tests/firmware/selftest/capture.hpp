// SPDX-License-Identifier: Apache-2.0
// The tracer's line for its tests: memory instead of a UART. The protocol's own decoder reads it.
#pragma once

#include <cstdint>
#include <span>

#include "nopscope/nopscope.hpp"
#include "tracer/protocol/command.hpp"
#include "tracer/protocol/event.hpp"
#include "tracer/protocol/stats.hpp"

namespace nopscope::selftest {

// Calls init() on first use: all cores, stream mode, no pacing, function recorder on `leaf` only.
// False: init() failed.
bool tracer_is_up();

inline bool is_ok(Status status) { return status == Status::ok; }
// The tracer is up and traces nothing. False: it is not up, or refuses. After the first call, the
// runner calls nothing_left() behind each test.
bool nothing_traced();
// The same, but one recorder traces these functions.
bool only_traced(Recorder recorder, const Sites& sites);
// Records again, and removes what a test needs: recorders, ops, filters, `tasks` and `other`.
// False: something cannot be removed, or a call is open.
bool nothing_left();
// How much a counter has grown since nothing_traced(), only_traced(), or the test's begin.
std::uint64_t grown(std::uint64_t Counters::*counter);

// The index of a function's site; ~0: it has none.
std::uint32_t index_of(const void* function);

// Call it on another core: joins on first use.
bool joined_here();

// Drops the contents of line and ring, calls `run`, and returns what it recorded. The tracer's own
// records are left out. Event indexes count from the first event that is left.
struct Recording {
    std::span<const protocol::Event> events;
    protocol::Stats stats;  // the final one, else the last seen
    bool well_formed;
    unsigned brackets = 0;  // brackets of the tracer's time, with instructions beside them
    unsigned answers[protocol::answer_count] = {};  // replies to commands

    // Whether the events read like that, without changes of well-formed contents. `FUNCTION` is a
    // call, `FUNCTION(` an entry; `)` ends the innermost open call, `)2` the one outside of it,
    // `~` an unwound one. `3(` is interrupt 3, `FUNCTION/1` a duration at depth 1, `c` a context,
    // `g` that the context before gave way, `m5` mark 5. `[MASK FUNCTION VALUE...]` are arguments,
    // `{WIDE FUNCTION VALUE}` a result, `#ARGUMENT VALUE` a counter, all in hex. `<2 3>` are the
    // events of the call that has just ended. Masked sections are left out: their number depends on
    // time.
    bool reads(const char* expected) const;
    // How many events fulfil `is`.
    template <typename Is>
    unsigned count(Is is) const {
        unsigned sum = 0;
        for (const protocol::Event& event : events) sum += is(event);
        return sum;
    }
    unsigned entries() const {
        return count([](const protocol::Event& one) { return one.kind == protocol::Kind::entry; });
    }
    unsigned unwound() const {
        return count([](const protocol::Event& one) { return one.unwound; });
    }
};
Recording record(void (*run)());

// The session number of the frames collected so far.
std::uint16_t captured_session();
// feed_line: the bytes that pump() reads from now on. line_is_fed: it has read all of them.
void feed_line(std::span<const std::uint8_t> bytes);
bool line_is_fed();
// Sends all records so far to the line.
void pump_out();

// pump() calls `run` for each byte that the line takes. Null: no call.
void on_line_byte(void (*run)());
// A shut line takes no byte, so the ring fills.
void shut_line(bool shut);
// Fills this core's ring with marks.
void fill_ring();
// No shadow frame above this core's top has an SP: an interrupt that just pushes one would see it.
bool popped_frames_are_free();

inline bool is(const protocol::Event& event, protocol::Extended what) {
    return event.kind == protocol::Kind::extended && event.extended == what;
}
// `event` is an entry or call of `function`.
bool is_of(const protocol::Event& event, const void* function);

}  // namespace nopscope::selftest
