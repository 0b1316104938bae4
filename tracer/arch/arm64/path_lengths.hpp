// SPDX-License-Identifier: Apache-2.0
// With GCC 15, and with GCC 12 and others (contract: tracer/arch/path_lengths.hpp).
#pragma once

#include <cstdint>

namespace nopscope::arch {

inline constexpr std::uint32_t told_before = 5;
inline constexpr std::uint32_t told_after = 2;
inline constexpr std::uint32_t way_back = __GNUC__ >= 15 ? 80 : 70;
inline constexpr std::uint32_t jump_before = 15;
inline constexpr std::uint32_t jump_after = way_back - 8;
inline constexpr std::uint32_t make_room_after = __GNUC__ >= 15 ? 110 : 93;
inline constexpr std::uint32_t before_going_on = 110;

}  // namespace nopscope::arch
