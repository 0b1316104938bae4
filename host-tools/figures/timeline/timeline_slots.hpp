// SPDX-License-Identifier: Apache-2.0
// Operations on a timeline's slots and calls, both while events come and in json().
#pragma once

#include <algorithm>
#include <cstddef>

namespace nopscope::host {

// Doubles the width of the slots. Afterwards there are `slots` of them: at least half as many.
template <typename Row>
void merge_pairs(Row& row, std::size_t slots) {
    for (std::size_t at = 0; at < row.size() / 2; ++at) {
        auto cell = row[2 * at];
        const auto& second = row[2 * at + 1];
        cell.busy += second.busy;
        cell.calls += second.calls;
        if (second.longest.duration > cell.longest.duration) cell.longest = second.longest;
        row[at] = cell;
    }
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(row.size() / 2), row.end(),
              typename Row::value_type{});
    row.resize(slots);
}

// Keeps the `most` longest calls, in any order.
template <typename Calls>
void keep_longest(Calls& calls, std::size_t most) {
    if (calls.size() <= most) return;
    std::nth_element(
        calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(most), calls.end(),
        [](const auto& a, const auto& b) { return a.call.duration > b.call.duration; });
    calls.resize(most);
}

}  // namespace nopscope::host
