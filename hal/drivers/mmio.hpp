// SPDX-License-Identifier: Apache-2.0
// Access to device registers. Each is one volatile access of its width, never merged or split.
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline std::uint32_t read32(std::uint64_t address) {
    return *reinterpret_cast<const volatile std::uint32_t*>(address);
}
inline void write32(std::uint64_t address, std::uint32_t value) {
    *reinterpret_cast<volatile std::uint32_t*>(address) = value;
}
inline void write64(std::uint64_t address, std::uint64_t value) {
    *reinterpret_cast<volatile std::uint64_t*>(address) = value;
}
inline std::uint8_t read8(std::uint64_t address) {
    return *reinterpret_cast<const volatile std::uint8_t*>(address);
}
inline void write8(std::uint64_t address, std::uint8_t value) {
    *reinterpret_cast<volatile std::uint8_t*>(address) = value;
}

}  // namespace nopscope::hal
