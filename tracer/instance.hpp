// SPDX-License-Identifier: Apache-2.0
// What the files of the board's tracer share of its one instance (tracer.cpp).
#pragma once

#include "tracer/core.hpp"

namespace nopscope {

// This core; null until it records: after init() or join().
Core* joined_core();
// What has been recorded so far is due, in whole frames or not.
void send_soon();
// The same in flight mode, too.
void send_snapshot();

}  // namespace nopscope

// Unwinds to an open call with this SP, or panics. Returns the top; the frame below it is the call's.
extern "C" std::uint64_t nopscope_unwind_at_return(nopscope::Core* here, std::uint64_t sp);
