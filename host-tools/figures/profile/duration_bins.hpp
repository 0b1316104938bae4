// SPDX-License-Identifier: Apache-2.0
// Calls by duration, in 1/256 ticks, four bins to a doubling: bins are at most a quarter wide.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace nopscope::host {

struct DurationBins {
    static constexpr unsigned count = 252;  // enough for all 64-bit durations

    static constexpr unsigned bin_of(std::uint64_t duration) {
        if (duration < 4) return static_cast<unsigned>(duration);
        const auto log = static_cast<unsigned>(std::bit_width(duration)) - 1;
        return 4 * (log - 1) + static_cast<unsigned>(duration >> (log - 2) & 3);
    }
    // The shortest duration of the bin.
    static constexpr std::uint64_t first_of(unsigned bin) {
        return bin < 4 ? bin : std::uint64_t{4 + bin % 4} << (bin / 4 - 1);
    }

    void add(std::uint64_t duration) { ++calls[bin_of(duration)]; }

    std::array<std::uint64_t, count> calls{};
};

}  // namespace nopscope::host
