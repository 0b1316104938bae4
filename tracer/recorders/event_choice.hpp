// SPDX-License-Identifier: Apache-2.0
// Which events the recorders count. patching/requests.cpp changes it: count_in_steps().
#pragma once

#include "nopscope/events.hpp"
#include "nopscope/nopscope.hpp"
#include "tracer/core/pmu_event_set.hpp"

#include <span>

namespace nopscope {

EventSet events_chosen();
// What events_refusal() then says. Returns Status::events_refused.
Status refuse_events(protocol::EventRefusal why);
// Whether each core that has joined can count them. Within a request, as the next.
Status check_events(std::span<const std::uint16_t> numbers);
// On all cores, in their rings and counters. None: nothing is counted. False: a core did not come within a second.
bool choose_events(std::span<const std::uint16_t> numbers);
// On a core that has just joined.
void count_events_here();

}  // namespace nopscope
