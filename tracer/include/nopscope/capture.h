// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values in the recording, for C: arguments and results of chosen functions, and the firmware's
/// counters (capture.hpp).
///
///     nopscope_capture_arguments(nopscope_named("uart_*"), 3);  // the first two
///     nopscope_counter(queue_length, queue->size);
#pragma once

#include "nopscope/nopscope.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \name Captured values
/// \{

/// Records a value that changes over time: nopscope::counter().
NOPSCOPE_API void nopscope_counter(uint32_t id, int64_t value);
/// Records registers at each entry: nopscope::capture_arguments().
NOPSCOPE_API enum nopscope_status nopscope_capture_arguments(struct nopscope_sites sites,
                                                             uint8_t mask);
/// Records x0 or a0 at each return: nopscope::capture_result().
NOPSCOPE_API enum nopscope_status nopscope_capture_result(struct nopscope_sites sites);
/// Ends both captures of these functions: nopscope::capture_nothing().
NOPSCOPE_API enum nopscope_status nopscope_capture_nothing(struct nopscope_sites sites);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void nopscope_counter(uint32_t id, int64_t value) { (void)id, (void)value; }
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_arguments(struct nopscope_sites sites,
                                                               uint8_t mask) {
    (void)sites, (void)mask;
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_result(struct nopscope_sites sites) {
    (void)sites;
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_nothing(struct nopscope_sites sites) {
    (void)sites;
    return NOPSCOPE_OK;
}
#endif

#ifdef __cplusplus
}
#endif
