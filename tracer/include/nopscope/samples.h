// SPDX-License-Identifier: Apache-2.0
/// \file
/// Samples for C: where a core is, and its callers, taken in an interrupt (samples.hpp).
#pragma once

#include "nopscope/enabled.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The registers that an interrupt found: the same object as nopscope::Interruption.
struct nopscope_interruption {
    const uint64_t* x;  ///< x0 to x30, or RISC-V's x0 to x31.
    uint64_t sp;        ///< The stack pointer.
    uint64_t pc;        ///< The next instruction of the interrupted code.
};

/// The largest number of addresses in a sample: nopscope::max_sampled_addresses.
#define NOPSCOPE_MAX_SAMPLED_ADDRESSES 32

/// Records where the core was; call it in an interrupt's handler: nopscope::sample().
NOPSCOPE_API void nopscope_sample(const struct nopscope_interruption* at);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void nopscope_sample(const struct nopscope_interruption* at) { (void)at; }
#endif

#ifdef __cplusplus
}
#endif
