// SPDX-License-Identifier: Apache-2.0
// Values in the recording: arguments and results of chosen functions, and the firmware's own counters.
//
//     nopscope::capture_arguments(nopscope::Sites::named("uart_*"), 0b11);  // x0 and x1
//     nopscope::capture_result(nopscope::Sites::named("uart_read"));
//     nopscope::counter(queue_length, queue.size());
//
// None while recording is stopped. A record of several words is in the ring as a whole or dropped, and
// counted once.
#pragma once

#include "nopscope/nopscope.hpp"

#include <cstdint>

namespace nopscope {

// A value that changes over time. `id`: 24 bits, the firmware's own. Any context.
void counter(std::uint32_t id, std::int64_t value);

// At each entry of these functions, before what the recorder makes of it: one record with the
// registers of `mask`, bit n for xn, as they are there; whether they are arguments is not known here.
// Instead of the last mask of these functions; 0: none. As attach(), and its errors; too_many: more
// than 8 masks at a time. An error may leave both masks attached.
Status capture_arguments(const Sites& sites, std::uint8_t mask);
// At each return of these functions, after what the recorder makes of it: one record with x0. Of calls
// that return, on the context's own stack (ReturnOps).
Status capture_result(const Sites& sites);
// Neither arguments nor results of these functions any more. As detach().
Status capture_nothing(const Sites& sites);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void counter(std::uint32_t, std::int64_t) {}
NOPSCOPE_EMPTY Status capture_arguments(const Sites&, std::uint8_t) { return Status::ok; }
NOPSCOPE_EMPTY Status capture_result(const Sites&) { return Status::ok; }
NOPSCOPE_EMPTY Status capture_nothing(const Sites&) { return Status::ok; }
#endif

}  // namespace nopscope
