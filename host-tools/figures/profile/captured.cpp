// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/captured.hpp"

#include <algorithm>

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {
namespace {

// Null: the budget has no room for a new series.
template <typename Key>
ValueSeries* series_of(std::map<Key, ValueSeries>& all, const Key& key, MemoryBudget& budget) {
    const auto known = all.find(key);
    if (known != all.end()) return &known->second;
    return budget.take(price::series) ? &all[key] : nullptr;
}

}  // namespace

void ValueSeries::add(std::int64_t value, std::uint64_t clock, std::uint64_t session) {
    min = count == 0 ? value : std::min(min, value);
    max = count == 0 ? value : std::max(max, value);
    // Records of different cores come in blocks, so not in the order of their clocks.
    if (count == 0 || session != last_session ||
        static_cast<std::int64_t>(clock - last_clock) >= 0) {
        last = value;
        last_clock = clock;
        last_session = session;
    }
    if (count == 0 || !different.empty()) ++different[value];
    if (different.size() > max_different) different.clear();
    ++count;
}

std::uint64_t Captured::add(const WithData& record, FunctionTable& functions, std::uint64_t session,
                            MemoryBudget& budget) {
    std::uint64_t left_out = 0;
    std::array<CapturedPart, 8> room;
    for (const CapturedPart& part : values_of(record, room)) {
        ValueSeries* const to =
            part.what == CapturedPart::counter
                ? series_of(counters_, part.of, budget)
                : series_of(of_functions_, {functions.number(part.of, budget), part.what}, budget);
        if (to != nullptr) {
            to->add(part.value, record.head().clock, session);
        } else {
            ++left_out;
        }
    }
    return left_out;
}

}  // namespace nopscope::host
