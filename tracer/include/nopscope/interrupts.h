// SPDX-License-Identifier: Apache-2.0
/// \file
/// Interrupts in the recording, and how long interrupts were masked, for C: interrupts.hpp.
///
///     void vector(void) {  // interrupts are masked
///         const unsigned number = acknowledge();
///         const uint64_t begun = nopscope_interrupt_begin(number);
///         handlers[number]();
///         nopscope_interrupt_end(begun);
///     }
#pragma once

#include "nopscope/enabled.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \name Interrupts
/// \{

/// Records that an interrupt begins: nopscope::interrupt_begin().
NOPSCOPE_API uint64_t nopscope_interrupt_begin(uint32_t number);
/// Records that an interrupt ends: nopscope::interrupt_end().
NOPSCOPE_API void nopscope_interrupt_end(uint64_t begun);
/// Reports that interrupts have just been masked: nopscope::interrupts_masked().
NOPSCOPE_API void nopscope_interrupts_masked(uint64_t where);
/// Reports that interrupts are about to be unmasked: nopscope::interrupts_unmasked().
NOPSCOPE_API void nopscope_interrupts_unmasked(void);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY uint64_t nopscope_interrupt_begin(uint32_t number) {
    (void)number;
    return 0;
}
NOPSCOPE_EMPTY void nopscope_interrupt_end(uint64_t begun) { (void)begun; }
NOPSCOPE_EMPTY void nopscope_interrupts_masked(uint64_t where) { (void)where; }
NOPSCOPE_EMPTY void nopscope_interrupts_unmasked(void) {}
#endif

#ifdef __cplusplus
}
#endif
