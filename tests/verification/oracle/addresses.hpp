// SPDX-License-Identifier: Apache-2.0
// Addresses of a target.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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

// The function that contains an instruction. `functions`: by address. Null: none.
template <typename Function>
Function* around(const std::map<std::uint64_t, Function*>& functions, std::uint64_t address) {
    const auto after = functions.upper_bound(address);
    if (after == functions.begin()) return nullptr;
    Function* const function = std::prev(after)->second;
    return address < function->end ? function : nullptr;
}

inline std::string hex(std::uint64_t number) {
    std::ostringstream digits;
    digits << "0x" << std::hex << number;
    return digits.str();
}
