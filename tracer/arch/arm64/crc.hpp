// SPDX-License-Identifier: Apache-2.0
// CRC-32C (contract: tracer/arch/crc.hpp). ID_AA64ISAR0_EL1.CRC32 says whether the CPU has it.
#pragma once

#include <cstdint>

namespace nopscope::arch {

#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)

inline bool has_crc_instruction() {
    std::uint64_t features;
    asm("mrs %0, id_aa64isar0_el1" : "=r"(features));
    return (features >> 16 & 15) != 0;
}
inline std::uint32_t crc32c_step(std::uint32_t crc, std::uint64_t bytes) {
    asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(bytes));
    return crc;
}

#else

inline bool has_crc_instruction() { return false; }
inline std::uint32_t crc32c_step(std::uint32_t crc, std::uint64_t) { return crc; }

#endif

}  // namespace nopscope::arch
