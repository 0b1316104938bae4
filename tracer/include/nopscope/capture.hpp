// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values in the recording: arguments and results of chosen functions, and the firmware's counters.
///
///     nopscope::capture_arguments(nopscope::Sites::named("uart_*"), 0b11);  // the first two
///     nopscope::capture_result(nopscope::Sites::named("uart_read"));
///     nopscope::counter(queue_length, queue.size());
///
/// Nothing is captured while recording is stopped. A record of several words is either complete in
/// the ring, or the tracer drops it and counts it once.
#pragma once

#include "nopscope/nopscope.hpp"

#include <cstdint>

namespace nopscope {

/// \name Captured values
/// \{

/// Records a value that changes over time. `id` is a number of 24 bits that the firmware chooses.
/// Any context, on a core that has joined; elsewhere it does nothing.
void counter(std::uint32_t id, std::int64_t value);

/// Records registers at each entry of these functions, before the recorder's own record. Bit n of
/// `mask` stands for xn (RISC-V: an), n from 0 to 7. The tracer does not know which of them are
/// arguments. The mask replaces the previous mask of these functions; 0 ends the capture.
///
/// Contexts and errors are those of attach(). Status::too_many: more than 8 different masks are in
/// use. After an error both masks may be attached.
Status capture_arguments(const Sites& sites, std::uint8_t mask);
/// Records x0 (RISC-V: a0) at each return of these functions, after the recorder's own record. It
/// sees only calls whose return the tracer sees, as a ReturnOps does. Contexts and errors are those
/// of attach().
Status capture_result(const Sites& sites);
/// Ends the capture of arguments and results of these functions. Contexts and errors are those of
/// detach().
Status capture_nothing(const Sites& sites);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void counter(std::uint32_t, std::int64_t) {}
NOPSCOPE_EMPTY Status capture_arguments(const Sites&, std::uint8_t) { return Status::ok; }
NOPSCOPE_EMPTY Status capture_result(const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status capture_nothing(const Sites&) { return Status::ok; }
#endif

}  // namespace nopscope
