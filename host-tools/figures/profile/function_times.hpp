// SPDX-License-Identifier: Apache-2.0
// The sums of one function's calls, in ticks.
#pragma once

#include <cstdint>

#include "host-tools/figures/profile/duration_bins.hpp"

namespace nopscope::host {

// Of a function's calls, those that are special.
struct CallCounts {
    std::uint64_t timed = 0;  // returned or unwound, with no gap inside
    std::uint64_t open = 0;   // not over when their session ended
    std::uint64_t lost = 0;   // ended inside a gap
    std::uint64_t unwound = 0;
    std::uint64_t incomplete = 0;  // a gap lies inside
    std::uint64_t cut = 0;  // crossed an end of the part that is shown; they count with their parts
    // An upper bound of the records that were dropped while a call of the function was open. The
    // time of a dropped call is in its caller's self time. See Profile::on_missing().
    std::uint64_t dropped = 0;
};

struct FunctionTimes : CallCounts {
    std::uint64_t calls = 0;
    std::uint64_t total_ticks = 0;
    std::uint64_t self_ticks = 0;
    std::uint64_t min_ticks = ~std::uint64_t{0};  // of `timed` calls
    std::uint64_t max_ticks = 0;
    std::uint64_t timed_ticks = 0;  // sum over `timed` calls, also over calls inside each other
    // The same less the overhead, in 1/256 ticks, but with a landing pad's time (call_costs.hpp).
    // Without the `uncorrected` calls, which ended before a boot had measured the overhead.
    std::int64_t corrected_sum = 0;
    std::int64_t corrected_min = INT64_MAX;
    std::int64_t corrected_max = INT64_MIN;
    std::uint64_t uncorrected = 0;
    std::uint64_t last_end = 0;  // of its last call in the session, on the decoder's clock; 0: none
    // When the first call of `max_ticks` ended, and where. See Profile::Core::axis_clock(); after
    // the session: in ns since the recording's first record.
    std::uint64_t max_end = 0;
    std::uint32_t max_core = 0;
    std::uint32_t max_context = 0;
    bool max_is_new = false;  // in this session

    // True: it is the longest so far. Then set `max_end`.
    [[gnu::always_inline]] bool time(std::uint64_t ticks, std::int64_t corrected) {
        ++timed;
        timed_ticks += ticks;
        if (ticks < min_ticks) min_ticks = ticks;
        // Modulo 2^64: outside data may have any clock.
        corrected_sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(corrected_sum) +
                                                  static_cast<std::uint64_t>(corrected));
        if (corrected < corrected_min) corrected_min = corrected;
        if (corrected > corrected_max) corrected_max = corrected;
        if (ticks <= max_ticks) [[likely]]
            return false;
        max_ticks = ticks;
        return max_is_new = true;
    }
    void forget_corrected() {
        corrected_sum = 0;
        corrected_min = INT64_MAX;
        corrected_max = INT64_MIN;
        uncorrected = timed;
    }
};

// A function's calls by duration: as recorded, and less the overhead but with landing pads.
struct DurationsOf {
    DurationBins raw;
    DurationBins corrected;
};

}  // namespace nopscope::host
