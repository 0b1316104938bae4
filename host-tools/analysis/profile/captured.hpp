// SPDX-License-Identifier: Apache-2.0
// Values in records: registers at functions' entries, results, and the firmware's counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "host-tools/analysis/profile/function_table.hpp"
#include "tracer/protocol/event.hpp"

namespace nopscope::host {

// The values of one register, result or counter: 64 bits, read as signed.
struct ValueSeries {
    static constexpr std::size_t max_different = 8;

    std::uint64_t count = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t last = 0;                            // the latest by the clock, last session
    std::map<std::int64_t, std::uint64_t> different;  // value -> count; empty if there are too many
    std::uint64_t last_clock = 0;
    std::uint64_t last_session = 0;

    void add(std::int64_t value, std::uint64_t clock, std::uint64_t session);
};

// Collects a record and the data records that follow it, on one core.
class WithData {
public:
    // True: the record is complete.
    bool take(const protocol::Event& event);
    const protocol::Event& head() const { return head_; }
    std::span<const std::uint64_t> data() const { return {data_.data(), count_}; }

private:
    static constexpr std::size_t most_data = protocol::max_sample_addresses;
    static_assert(most_data >= 1 + 2 * 8, "a site, eight wide values");

    protocol::Event head_;
    std::array<std::uint64_t, most_data> data_{};
    unsigned wanted_ = 0;
    unsigned count_ = 0;
};

// One value of a record of arguments, a result, or a counter.
struct CapturedPart {
    static constexpr std::uint32_t counter = 9;
    std::uint32_t what = 0;  // register 0 to 7, Captured::result, or counter
    std::uint32_t of = 0;    // the site's offset, or the counter's number
    std::int64_t value = 0;
};
// The values of a complete record. The record must not be a sample.
std::span<const CapturedPart> values_of(const WithData& record, std::array<CapturedPart, 8>& room);

class Captured {
public:
    static constexpr std::uint32_t result = 8;  // 0 to 7 are x0 to x7

    using OfFunction = std::pair<std::uint32_t, std::uint32_t>;  // its number; register, or result
    const std::map<OfFunction, ValueSeries>& of_functions() const { return of_functions_; }
    const std::map<std::uint32_t, ValueSeries>& counters() const { return counters_; }

    // Returns how many values it left out because the budget refused their series.
    std::uint64_t add(const WithData& record, FunctionTable& functions, std::uint64_t session,
                      MemoryBudget& budget);

private:
    std::map<OfFunction, ValueSeries> of_functions_;
    std::map<std::uint32_t, ValueSeries> counters_;  // by number
};

}  // namespace nopscope::host
