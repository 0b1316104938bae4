// SPDX-License-Identifier: Apache-2.0
// Addresses of a target.
#pragma once

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

// From `low` to below `high`.
struct Range {
    std::uint64_t low = 0, high = 0;
    bool has(std::uint64_t address) const { return address >= low && address < high; }
};

inline bool any_has(const std::vector<Range>& ranges, std::uint64_t address) {
    return std::ranges::any_of(ranges, [=](const Range& range) { return range.has(address); });
}

inline std::string hex(std::uint64_t number) {
    std::ostringstream digits;
    digits << "0x" << std::hex << number;
    return digits.str();
}
