// SPDX-License-Identifier: Apache-2.0
// The two 32-bit event counters of this core's PMU that the tracer uses. In nopscope::arch:
//
//     event_counters()        how many counters software at this level may use
//     has_event(number)       false if the CPU does not say that it has this event
//     start_counters(first, second, count)
//                             counts these events, or only the first one, without an interrupt
//                             when one wraps
//     pause_counters()        stops them and returns which ones ran, for resume_counters()
//     read_counters(), write_counters(both)
//                             the first in the low half, the second in the high half
//
// On the host there are none: pause, resume, read and write do nothing and return 0.
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(pmu.hpp)
