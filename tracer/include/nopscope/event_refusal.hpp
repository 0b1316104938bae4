// SPDX-License-Identifier: Apache-2.0
/// \file
/// Why the tracer refuses to count events. Target and host share the numbers.
#pragma once

#include <cstdint>

/// Definitions that the target and the host share.
namespace nopscope::protocol {

/// Why count_events() refused.
enum class EventRefusal : std::uint8_t {
    none = 0,              ///< It did not refuse.
    no_pmu = 1,            ///< The CPU has no PMUv3.
    too_few_counters = 2,  ///< The CPU, or its EL2, gives fewer than two event counters.
    absent = 3,            ///< The CPU does not report that it implements this event.
    too_many = 4,          ///< More than two events were requested.
    recorder = 5,          ///< A recorder in use, or in the request, does not count events.
    mode = 6,              ///< The mode is adaptive.
    ring_too_small = 7,    ///< The ring has no room for all open calls' returns with their events.
    twice = 8,             ///< Both events are the same. Sums by event would count it twice.
};

}  // namespace nopscope::protocol
