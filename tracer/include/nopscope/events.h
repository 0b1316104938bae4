// SPDX-License-Identifier: Apache-2.0
/// \file
/// Events of the CPU's performance monitors (PMU), by function, for C: events.hpp.
///
///     static const uint16_t events[] = {0x03, 0x10};  // L1D_CACHE_REFILL, BR_MIS_PRED
///     if (nopscope_count_events(events, 2) == NOPSCOPE_EVENTS_REFUSED)
///         puts(nopscope_describe_event_refusal(nopscope_events_refusal().why));
#pragma once

#include "nopscope/nopscope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \name Events
/// \{

/// Counts up to two of the PMU's events: nopscope::count_events().
NOPSCOPE_API enum nopscope_status nopscope_count_events(const uint16_t* numbers, size_t count);

/// Why nopscope_count_events() refused: nopscope::protocol::EventRefusal.
enum nopscope_event_refusal {
    NOPSCOPE_EVENT_REFUSAL_NONE,              ///< It did not refuse.
    NOPSCOPE_EVENT_REFUSAL_NO_PMU,            ///< The CPU has no PMUv3.
    NOPSCOPE_EVENT_REFUSAL_TOO_FEW_COUNTERS,  ///< There are fewer than two event counters.
    NOPSCOPE_EVENT_REFUSAL_ABSENT,            ///< The CPU does not report this event.
    NOPSCOPE_EVENT_REFUSAL_TOO_MANY,          ///< More than two events were requested.
    NOPSCOPE_EVENT_REFUSAL_RECORDER,          ///< A recorder does not count events.
    NOPSCOPE_EVENT_REFUSAL_MODE,              ///< The mode is adaptive.
    NOPSCOPE_EVENT_REFUSAL_RING_TOO_SMALL,    ///< No room for all returns with their events.
    NOPSCOPE_EVENT_REFUSAL_TWICE,             ///< Both events are the same.
};
/// Why the tracer refused to count events: nopscope::EventsRefusal.
struct nopscope_events_refusal {
    enum nopscope_event_refusal why;  ///< The reason.
    uint16_t event;                   ///< For the reasons `ABSENT` and `TWICE`: the event's number.
    uint8_t counters;                 ///< For `TOO_FEW_COUNTERS`: how many there are.
};
/// Returns the last refusal: nopscope::events_refusal().
NOPSCOPE_API struct nopscope_events_refusal nopscope_events_refusal(void);
/// Returns one sentence about a reason, in static storage: nopscope::describe().
NOPSCOPE_API const char* nopscope_describe_event_refusal(enum nopscope_event_refusal why);

/// The events of one function's calls on one core: the same object as nopscope::SiteEvents.
struct nopscope_site_events {
    uint64_t calls;     ///< Calls that were counted.
    uint64_t total[2];  ///< Events from entry to return, in the order of nopscope_count_events().
    uint64_t self[2];   ///< The same without profiled calls inside.
};
/// Reads one function's events without a host: nopscope::read_profile_events().
NOPSCOPE_API bool nopscope_read_profile_events(uint32_t index, unsigned core,
                                               struct nopscope_site_events* out);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY enum nopscope_status nopscope_count_events(const uint16_t* numbers, size_t count) {
    (void)numbers, (void)count;
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY struct nopscope_events_refusal nopscope_events_refusal(void) {
    const struct nopscope_events_refusal none = {NOPSCOPE_EVENT_REFUSAL_NONE, 0, 0};
    return none;
}
NOPSCOPE_EMPTY const char* nopscope_describe_event_refusal(enum nopscope_event_refusal why) {
    (void)why;
    return "";
}
NOPSCOPE_EMPTY bool nopscope_read_profile_events(uint32_t index, unsigned core,
                                                 struct nopscope_site_events* out) {
    (void)index, (void)core, (void)out;
    return false;
}
#endif

#ifdef __cplusplus
}
#endif
