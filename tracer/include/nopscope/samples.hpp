// SPDX-License-Identifier: Apache-2.0
// Samples: where a core is, and how it came there, each time a timer's or a PMU counter's interrupt asks. They need
// no patch sites: they see code that was built without.
#pragma once

#include "nopscope/enabled.h"

#include <cstddef>
#include <cstdint>

namespace nopscope {

// What an interrupt found.
struct Interruption {
    const std::uint64_t* x;  // x0 to x30 as they were
    std::uint64_t sp;
    std::uint64_t pc;
};

// Addresses in a sample, its pc included; callers beyond are left out.
inline constexpr std::size_t max_sampled_addresses = 32;

// Puts a sample into the ring: pc, and return addresses by the frame records that x29 leads to (AAPCS64, 6.4.6),
// as far as they lie on the running context's stack: where its bounds are not known (Config::stack_low,
// stack_high) there are none. x30 is one of them where the function that pc lies in has no frame record yet, or
// none at all. Addresses behind the tracer's hooks are the real ones.
// In the handler of an interrupt, on a core that has joined (else it does nothing). A sample for which there is no
// room is dropped, and counted. Costs some 76 instructions an address (under -icount: 1,054 for 14, 2,432 for 32).
void sample(const Interruption& at);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void sample(const Interruption&) {}
#endif

}  // namespace nopscope
