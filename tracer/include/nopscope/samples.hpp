// SPDX-License-Identifier: Apache-2.0
/// \file
/// Samples: where a core is, and its callers, taken in an interrupt of a timer or a PMU counter.
/// They need no patch sites, so they also see code that was built without.
#pragma once

#include "nopscope/enabled.h"

#include <cstddef>
#include <cstdint>

namespace nopscope {

/// The registers that an interrupt found.
struct Interruption {
    const std::uint64_t* x;  ///< x0 to x30, or RISC-V's x0 to x31.
    std::uint64_t sp;        ///< The stack pointer.
    std::uint64_t pc;        ///< The next instruction of the interrupted code.
};

/// The largest number of addresses in a sample, its pc included. Further callers are left out.
inline constexpr std::size_t max_sampled_addresses = 32;

/// Records where the core was: pc, and the callers' addresses. Call it in an interrupt's handler.
/// On a core that has not joined it does nothing.
///
/// The tracer follows the frame records from x29 (AAPCS64, 6.4.6), or from s0, while they lie on
/// the running context's stack. Without that stack's bounds (Config::stack_low, Config::stack_high)
/// a sample has no callers. x30 (ra) is one of them if the function at pc has no frame record, or
/// none yet. If the tracer has hooked a return, the sample has the real caller.
///
/// If the ring is full, the tracer drops the sample and counts it. An address costs about 76
/// instructions (under -icount: 1,054 for 14 addresses, 2,432 for 32).
void sample(const Interruption& at);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void sample(const Interruption&) {}
#endif

}  // namespace nopscope
