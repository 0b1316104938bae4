// SPDX-License-Identifier: Apache-2.0
// The tracer's line, for its tests: memory instead of a UART, read back by the wire format's reader.
#pragma once

#include <cstdint>
#include <span>

#include "nopscope/nopscope.hpp"
#include "tracer/protocol/command.hpp"
#include "tracer/protocol/event.hpp"
#include "tracer/protocol/profile.hpp"
#include "tracer/protocol/stats.hpp"

namespace nopscope::selftest {

// Calls init() on first use: all cores, stream mode, no pacing, the function recorder on leaf alone.
// False: it failed.
bool tracer_is_up();

// Another core, on it: joins once.
bool joined_here();

// Drops what is on the line and in the ring, then lets `run` run and collects what it recorded: the
// tracer's own records are left out, and event indexes count from the first one left.
struct Recording {
    std::span<const protocol::Event> events;
    protocol::Stats stats;  // the final one, else the last seen
    bool well_formed;
    unsigned brackets = 0;   // of the tracer's time, with instructions beside them
    unsigned read_outs = 0;  // of the profile, that came to their end; of core 0
    unsigned profiled = 0;   // functions in them
    std::uint64_t profiled_calls = 0;
    unsigned answers[protocol::answer_count] = {};  // replies to commands
};
Recording record(void (*run)());

// Of the frames collected so far.
std::uint16_t captured_session();
// What pump() reads from now on; and whether all of it has been read.
void feed_line(std::span<const std::uint8_t> bytes);
bool line_is_fed();
// All that has been recorded so far goes to the line.
void pump_out();

// Called as the line takes a byte, by the pump. Null: nothing.
void on_line_byte(void (*run)());
// While shut, the line takes no byte: the ring fills.
void shut_line(bool shut);

// `event` is an entry (or call) of `function`, or the data that says of which function its record is.
bool is_of(const protocol::Event& event, const void* function);

}  // namespace nopscope::selftest
