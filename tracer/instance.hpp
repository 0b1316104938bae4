// SPDX-License-Identifier: Apache-2.0
// What the files of the board's tracer share of its one instance (tracer.cpp).
#pragma once

#include "tracer/core.hpp"

#include <span>

namespace nopscope {

// By number, those that do not record, too.
std::span<Core> all_cores();
// This core; null until it records: after init() or join().
Core* joined_core();
// No context is in a subtree that is traced below (filters.cpp).
void forget_subtree_of_contexts();
// What has been recorded so far is due, in whole frames or not.
void send_soon();
// The same in flight mode, too.
void send_snapshot();

}  // namespace nopscope

// Unwinds to an open call with this SP, or panics. Returns the top; the frame below it is the call's.
extern "C" std::uint64_t nopscope_unwind_at_return(nopscope::Core* here, std::uint64_t sp);
