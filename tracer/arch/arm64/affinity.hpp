// SPDX-License-Identifier: Apache-2.0
// Which field of MPIDR_EL1 holds the core's number: Arm ARM DDI 0487, D19.2.
#pragma once

#include <cstdint>

namespace nopscope {

// MPIDR_EL1.MT set: Aff0 numbers a core's threads, and Aff1 the cores. All cores with BTI set it.
constexpr unsigned affinity_shift(std::uint64_t mpidr) {
    return static_cast<unsigned>(mpidr >> 21 & 8);
}
static_assert(affinity_shift(0x8000'0003) == 0 && affinity_shift(0x8100'0300) == 8);

}  // namespace nopscope
