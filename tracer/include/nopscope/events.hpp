// SPDX-License-Identifier: Apache-2.0
/// \file
/// Events of the CPU's performance monitors (PMU), by function: cache misses, mispredicted
/// branches.
///
///     constexpr std::uint16_t events[] = {0x03, 0x10};  // L1D_CACHE_REFILL, BR_MIS_PRED
///     if (nopscope::count_events(events) == nopscope::Status::events_refused) ...
///
/// The graph recorder then records how many of them occurred while each call was open. The profile
/// recorder adds them up. Event numbers are the architecture's (Arm ARM DDI 0487, D13.12).
///
/// From then on the tracer owns the PMU's event counters 0 and 1 on each core. It does not touch
/// the cycle counter and the other counters.
#pragma once

#include "nopscope/event_refusal.hpp"
#include "nopscope/nopscope.hpp"

#include <cstdint>
#include <span>

namespace nopscope {

/// \name Events
/// \{

/// Counts up to two different events, which replace the previous ones. An empty list stops
/// counting. The sites stay as they are. Calls that are open meanwhile are recorded without events.
/// New events clear the profile's counts, so read these first, for example with send_profile().
///
/// Contexts and errors are those of enable(). Status::events_refused: nothing was changed, and
/// events_refusal() says why.
Status count_events(std::span<const std::uint16_t> numbers);

/// Why the tracer refused to count events.
struct EventsRefusal {
    protocol::EventRefusal why;  ///< The reason.
    std::uint16_t event;         ///< For the reasons `absent` and `twice`: the event's number.
    std::uint8_t counters;       ///< For `too_few_counters`: how many there are.
};
/// Returns the last refusal. Thread context.
EventsRefusal events_refusal();
/// Returns one sentence about a reason, in static storage. Any context.
const char* describe(protocol::EventRefusal why);

/// The events of one function's calls on one core since the events were last chosen.
struct SiteEvents {
    std::uint64_t calls;     ///< Calls that were counted.
    std::uint64_t total[2];  ///< Events from entry to return, in the order of count_events().
    std::uint64_t self[2];   ///< The same without profiled calls inside.
};
/// Reads one function's events without a host. Contexts and result are those of read_profile().
bool read_profile_events(std::uint32_t index, unsigned core, SiteEvents& out);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY Status count_events(std::span<const std::uint16_t>) { return Status::ok; }
NOPSCOPE_EMPTY EventsRefusal events_refusal() { return {}; }
NOPSCOPE_EMPTY const char* describe(protocol::EventRefusal) { return ""; }
NOPSCOPE_EMPTY bool read_profile_events(std::uint32_t, unsigned, SiteEvents&) { return false; }
#endif

}  // namespace nopscope
