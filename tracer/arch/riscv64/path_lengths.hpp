// SPDX-License-Identifier: Apache-2.0
// With GCC 12 (contract: tracer/arch/path_lengths.hpp).
#pragma once

#include <cstdint>

namespace nopscope::arch {

inline constexpr std::uint32_t told_before = 3;
inline constexpr std::uint32_t told_after = 4;
inline constexpr std::uint32_t way_back = 98;
inline constexpr std::uint32_t jump_before = 13;
inline constexpr std::uint32_t jump_after = way_back - 8;
inline constexpr std::uint32_t make_room_after = 132;
inline constexpr std::uint32_t before_going_on = 110;

}  // namespace nopscope::arch
