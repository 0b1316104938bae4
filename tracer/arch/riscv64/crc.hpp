// SPDX-License-Identifier: Apache-2.0
// No CRC-32C instruction (contract: tracer/arch/crc.hpp).
#pragma once

#include <cstdint>

namespace nopscope::arch {

inline bool has_crc_instruction() { return false; }
inline std::uint32_t crc32c_step(std::uint32_t crc, std::uint64_t) { return crc; }

}  // namespace nopscope::arch
