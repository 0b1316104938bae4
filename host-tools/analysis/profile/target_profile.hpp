// SPDX-License-Identifier: Apache-2.0
// What the target's profile recorder has added up, from its profile frames.
//
// Values are cumulative within a session, so what came last of a function and core is what counts; a
// frame that was lost is made good by the next read-out. Sessions, like cores, are summed up.
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
    // An upper bound of so many per cent of the calls' durations: the end of a bin. 0: no call.
    std::uint64_t percentile(unsigned percent) const;
};

class TargetProfile {
public:
    // False: malformed.
    bool on_frame(unsigned core, const std::uint8_t* payload, std::size_t count, MemoryBudget& budget);
    void on_session_end(MemoryBudget& budget);

    // By site offset, those with a call; after the last session's end.
    const std::map<std::uint32_t, ProfiledTimes>& functions() const { return sum_; }
    // All functions that the budget refused, together; after the last session's end.
    const ProfiledTimes& others() const { return others_; }
    std::uint64_t frames() const { return frames_; }
    // Of the last session that had any.
    std::uint64_t last_read_out() const { return last_read_out_; }
    // Cores, of all sessions, whose last read-out lacks a part: some functions show an earlier one.
    std::uint64_t incomplete() const { return incomplete_; }

private:
    struct Core {
        std::unordered_map<std::uint32_t, protocol::ProfileEntry> entries;
        // Of the functions that have no entry: in this read-out so far, and in the one before. Values are cumulative, so
        // the larger of the two is what is known.
        ProfiledTimes others;
        ProfiledTimes others_before;
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
