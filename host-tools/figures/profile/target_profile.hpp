// SPDX-License-Identifier: Apache-2.0
// The sums of the target's profile recorder, from its profile frames.
//
// Values are cumulative within a session, so only the last value of a function on a core counts.
// The next read-out replaces a lost frame. The profile is the sum over all cores and sessions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "host-tools/base/memory.hpp"
#include "tracer/protocol/profile.hpp"

namespace nopscope::host {

struct ProfiledTimes {
    std::uint64_t calls = 0;
    std::uint64_t total_ticks = 0;
    std::int64_t self_ticks = 0;
    std::uint64_t min_ticks = ~std::uint64_t{0};
    std::uint64_t max_ticks = 0;
    std::array<std::uint64_t, protocol::profile_bins> bins{};

    void add(const protocol::ProfileEntry& entry);
    void add(const ProfiledTimes& other);
    // The calls after a read-out that said `before`. Their least and greatest times are exact if
    // they are those of all calls, else an end of a bin.
    ProfiledTimes since(const ProfiledTimes& before) const;
    // An upper bound of this percentile of the calls' durations: the end of a bin. 0: no call.
    std::uint64_t percentile(unsigned percent) const;
};

class TargetProfile {
public:
    // False: malformed.
    bool on_frame(unsigned core, const std::uint8_t* payload, std::size_t count,
                  MemoryBudget& budget);
    void on_session_end(MemoryBudget& budget);
    // Counts only what the target counts after its last read-out. `budget`: another profile's.
    void zero(MemoryBudget& budget);

    // By site offset, functions with a call. Call it after the last session's end.
    const std::map<std::uint32_t, ProfiledTimes>& functions() const { return sum_; }
    // The sum of all functions that the budget refused. Call it after the last session's end.
    const ProfiledTimes& others() const { return others_; }
    std::uint64_t frames() const { return frames_; }
    // The number of the last read-out, in the last session that had any.
    std::uint64_t last_read_out() const { return last_read_out_; }
    // Cores, over all sessions, whose last read-out lacks a part: some functions have older values.
    std::uint64_t incomplete() const { return incomplete_; }

private:
    struct Core {
        std::unordered_map<std::uint32_t, protocol::ProfileEntry> entries;
        std::unordered_map<std::uint32_t, protocol::ProfileEntry> at_zero;  // `entries` then
        ProfiledTimes others_at_zero;
        // The functions without an entry: in this read-out so far, and in the one before. Values
        // are cumulative, so the larger of the two counts.
        ProfiledTimes others;
        ProfiledTimes others_before;
        const ProfiledTimes& all_others() const {
            return others.calls >= others_before.calls ? others : others_before;
        }
        std::uint64_t number = 0;
        std::uint64_t next_part = 0;
        bool whole = false;
    };
    std::map<unsigned, Core> cores_;
    std::map<std::uint32_t, ProfiledTimes> sum_;
    ProfiledTimes others_;
    std::uint64_t frames_ = 0;
    std::uint64_t last_read_out_ = 0;
    std::uint64_t incomplete_ = 0;
};

}  // namespace nopscope::host
