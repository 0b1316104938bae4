// SPDX-License-Identifier: Apache-2.0
// Where MPIDR_EL1 has the core's number: Arm ARM DDI 0487, D19.2.
#pragma once

#include <cstdint>

namespace nopscope {

// MPIDR_EL1.MT: Aff0 numbers the threads of a core, and Aff1 the cores. So do all cores that have BTI.
constexpr unsigned affinity_shift(std::uint64_t mpidr) { return static_cast<unsigned>(mpidr >> 21 & 8); }
static_assert(affinity_shift(0x8000'0003) == 0 && affinity_shift(0x8100'0300) == 8);

}  // namespace nopscope
