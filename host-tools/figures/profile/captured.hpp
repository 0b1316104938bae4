// SPDX-License-Identifier: Apache-2.0
// Values in records: registers at functions' entries, results, and the firmware's counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "host-tools/calls/function_table.hpp"
#include "host-tools/calls/with_data.hpp"
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

class Captured {
public:
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
