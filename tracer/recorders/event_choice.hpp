// SPDX-License-Identifier: Apache-2.0
// Which events the recorders count. patching/requests.cpp changes it: count_in_steps().
#pragma once

#include "nopscope/events.hpp"
#include "nopscope/nopscope.hpp"
#include "tracer/core/pmu_event_set.hpp"

#include <span>

namespace nopscope {

EventSet events_chosen();
// Sets what events_refusal() returns. Returns Status::events_refused.
Status refuse_events(protocol::EventRefusal why);
// Checks that each core that has joined can count these events. Only within a request.
Status check_events(std::span<const std::uint16_t> numbers);
// Makes all cores count these events, or none. Only within a request. False: a core did not answer.
bool choose_events(std::span<const std::uint16_t> numbers);
// Makes a core that has just joined count the chosen events.
void count_events_here();

}  // namespace nopscope
