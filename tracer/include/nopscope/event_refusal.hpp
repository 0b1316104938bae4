// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::wire {

// Why events are not counted.
enum class EventRefusal : std::uint8_t {
    none = 0,
    no_pmu = 1,
    too_few_counters = 2,  // the CPU, or its EL2, gives less than two
    absent = 3,            // the CPU does not count this event, or nothing says that it does
    too_many = 4,
    recorder = 5,        // one is in use, or is asked for, that does not count events
    mode = 6,            // adaptive
    ring_too_small = 7,  // for all open calls' returns
    twice = 8,           // the same event on both counters: sums by event would hold it twice
};

}  // namespace nopscope::wire
