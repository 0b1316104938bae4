// SPDX-License-Identifier: Apache-2.0
// Records that data records follow, and what these hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/protocol/event.hpp"
#include "tracer/protocol/profile_events.hpp"

namespace nopscope::host {

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
    static constexpr std::uint32_t result = 8;
    static constexpr std::uint32_t counter = 9;
    std::uint32_t what = 0;  // register 0 to 7, result, or counter
    std::uint32_t of = 0;    // the site's offset, or the counter's number
    std::int64_t value = 0;
};
// The values of a complete record. The record must not be a sample.
std::span<const CapturedPart> values_of(const WithData& record, std::array<CapturedPart, 8>& room);

// The counts of a complete record of PMU events.
using CountedEvents = std::array<std::uint64_t, protocol::max_events>;
CountedEvents counts_of(const WithData& record);
// How many different events an `events` argument names. An older target may count the same event on
// both counters; the sums count it once.
unsigned different_events(std::uint32_t argument);

}  // namespace nopscope::host
