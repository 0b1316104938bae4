// SPDX-License-Identifier: Apache-2.0
// Ticks of a target's clock, and 1/256 of them (protocol::overhead_unit), as nanoseconds.
#pragma once

#include <cstdint>

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

__extension__ using FixedTicks = unsigned __int128;  // 1/256 ticks
__extension__ using SignedFixedTicks = __int128;

// To the nearest nanosecond; larger ticks never give fewer nanoseconds.
inline std::uint64_t fixed_to_ns(FixedTicks ticks, std::uint64_t clock_hz) {
    const FixedTicks per_second = FixedTicks{clock_hz} * protocol::overhead_unit;
    // Converts whole seconds by themselves: a hostile clock's ticks times 10^9 would not fit.
    return static_cast<std::uint64_t>(ticks / per_second * 1'000'000'000u +
                                      (ticks % per_second * 1'000'000'000u + per_second / 2) /
                                          per_second);
}
// Of a time below zero 0.
inline std::uint64_t positive_ns(SignedFixedTicks ticks, std::uint64_t clock_hz) {
    return ticks > 0 ? fixed_to_ns(static_cast<FixedTicks>(ticks), clock_hz) : 0;
}
inline std::uint64_t ticks_to_ns(std::uint64_t ticks, std::uint64_t clock_hz) {
    return fixed_to_ns(FixedTicks{ticks} * protocol::overhead_unit, clock_hz);
}
// The least number of ticks that ticks_to_ns() makes `ns` or more of.
inline std::uint64_t ticks_of_at_least(std::uint64_t ns, std::uint64_t clock_hz) {
    if (ns == 0) return 0;
    const FixedTicks twice = (FixedTicks{ns} * 2 - 1) * clock_hz;
    return static_cast<std::uint64_t>((twice + 1'999'999'999u) / 2'000'000'000u);
}
// Rounded down.
inline std::uint64_t ns_to_ticks(std::uint64_t ns, std::uint64_t clock_hz) {
    return static_cast<std::uint64_t>(FixedTicks{ns} * clock_hz / 1'000'000'000u);
}

}  // namespace nopscope::host
