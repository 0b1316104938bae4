// SPDX-License-Identifier: Apache-2.0
// Replaces the hal's header: the two registers that the interrupt controllers' driver uses.
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline std::uint64_t mip, mie;

inline std::uint64_t read_mip() { return mip; }
inline void write_mie(std::uint64_t value) { mie = value; }
inline void set_mie(std::uint64_t bits) { mie |= bits; }
inline void clear_mie(std::uint64_t bits) { mie &= ~bits; }

inline constexpr std::uint64_t machine_software = 1 << 3;
inline constexpr std::uint64_t machine_timer = 1 << 7;
inline constexpr std::uint64_t machine_external = 1 << 11;

}  // namespace nopscope::hal
