// SPDX-License-Identifier: Apache-2.0
// How much a step of the pump may do, so that it keeps to Config::pump_budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nopscope {

struct PumpBudget {
    std::uint64_t records;  // to pack
    std::size_t pieces;     // of an encoder's preparation for a group
    std::size_t encoded;    // bytes to encode for the line
    std::size_t sent;       // bytes to send
};

inline constexpr PumpBudget no_budget{~0ull, ~0ull, ~0ull, ~0ull};

// The divisors are a little more than what each takes on a Cortex-A72 (measured with one kind of
// step limited and the others not). About 4,000 instructions of a step are fixed.
constexpr PumpBudget budget_of(std::uint64_t instructions) {
    const std::uint64_t left = std::max<std::uint64_t>(instructions, 5000) - 4000;
    return {left / 400, left / 100, left / 20, left / 40};
}

}  // namespace nopscope
