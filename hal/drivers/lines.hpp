// SPDX-License-Identifier: Apache-2.0
// For drivers of controllers that do not know which handler runs: up to 64 interrupts with their
// priorities.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace nopscope::hal {

inline constexpr std::uint8_t nothing_runs = 0xff;  // less urgent than all priorities
inline constexpr unsigned running_before = 16;      // acknowledge(): bit of the previous priority

constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }

struct Lines {
    std::atomic<std::uint64_t> enabled = 0;
    std::uint8_t priority[64] = {};

    std::uint64_t enabled_and_more_urgent(std::uint8_t than) const {
        std::uint64_t found = 0;
        for (std::uint64_t left = enabled.load(std::memory_order_relaxed); left != 0;
             left &= left - 1) {
            const auto number = static_cast<unsigned>(std::countr_zero(left));
            if (priority[number] < than) found |= bit(number);
        }
        return found;
    }
    // In: `numbers` is not 0.
    unsigned most_urgent_of(std::uint64_t numbers) const {
        auto best = static_cast<unsigned>(std::countr_zero(numbers));
        for (; numbers != 0; numbers &= numbers - 1) {
            const auto number = static_cast<unsigned>(std::countr_zero(numbers));
            if (priority[number] < priority[best]) best = number;
        }
        return best;
    }
};

}  // namespace nopscope::hal
