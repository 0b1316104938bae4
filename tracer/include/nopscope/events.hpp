// SPDX-License-Identifier: Apache-2.0
// Events of the CPU's performance monitors, by function: cache misses, mispredicted branches, ...
//
//     constexpr std::uint16_t events[] = {0x03, 0x10};  // L1D_CACHE_REFILL, BR_MIS_PRED
//     if (nopscope::count_events(events) == nopscope::Status::events_refused) ...
//
// The graph recorder then records of each call how many of them came while it was open, the profile recorder adds them
// up. Numbers are the architecture's (Arm ARM DDI 0487, D13.12). Event counters 0 and 1 of the PMU are the tracer's
// from then on, on each core; the cycle counter and the others are not touched.
#pragma once

#include "nopscope/nopscope.hpp"
#include "nopscope/event_refusal.hpp"

#include <cstdint>
#include <span>

namespace nopscope {

// Counts up to two different events, instead of those before; none: stops counting. Calls that are
// open meanwhile are recorded without events. Choosing others clears the profile's counts: read it
// out before (send_profile()). What is traced stays so. As enable(), and its errors;
// events_refused: nothing was changed, and events_refusal() says why.
Status count_events(std::span<const std::uint16_t> numbers);

struct EventsRefusal {
    wire::EventRefusal why;
    std::uint16_t event;     // absent, twice: which
    std::uint8_t counters;   // too_few_counters: how many there are
};
EventsRefusal events_refusal();
// One sentence, static storage.
const char* describe(wire::EventRefusal why);

// What the calls of a site on a core have been charged with since the events were chosen last.
struct SiteEvents {
    std::uint64_t calls;
    std::uint64_t total[2];
    std::uint64_t self[2];
};
// As read_profile().
bool read_profile_events(std::uint32_t index, unsigned core, SiteEvents& out);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY Status count_events(std::span<const std::uint16_t>) { return Status::ok; }
NOPSCOPE_EMPTY EventsRefusal events_refusal() { return {}; }
NOPSCOPE_EMPTY const char* describe(wire::EventRefusal) { return ""; }
NOPSCOPE_EMPTY bool read_profile_events(std::uint32_t, unsigned, SiteEvents&) { return false; }
#endif

}  // namespace nopscope
