// SPDX-License-Identifier: Apache-2.0
// Stats: one core's counters, cumulative since init. The core is the frame header's.
#pragma once

#include "tracer/wire/frame.hpp"

namespace nopscope::wire {

struct Stats {
    std::uint64_t now = 0;        // clock, ticks
    std::uint64_t generated = 0;  // records claimed in the ring, and calls that made none
    std::uint64_t delivered = 0;  // records put into frames
    std::uint64_t dropped = 0;    // records refused because the ring was full
    std::uint64_t unhooked = 0;   // graph calls not recorded: the shadow stack was full
    std::uint64_t foreign = 0;    // graph calls not recorded: SP outside the context's bounds
    std::uint64_t console_dropped = 0;  // console bytes
    std::uint64_t final = 0;            // 1: recording is over, and the ring is empty
    std::uint64_t overwritten = 0;  // records that never were sent, since newer ones took their place
    std::uint64_t aggregated = 0;   // calls that the profile has added up, as of its last read-out
    std::uint64_t filtered = 0;     // calls that a filter on the target kept out
    std::uint64_t commands_refused = 0;  // core 0: corrupt, foreign, malformed or unknown
};

inline constexpr std::uint64_t Stats::*stats_fields[] = {
    &Stats::now,      &Stats::generated, &Stats::delivered,       &Stats::dropped,
    &Stats::unhooked, &Stats::foreign,   &Stats::console_dropped, &Stats::final,
    &Stats::overwritten, &Stats::aggregated, &Stats::filtered,
};

// The fields in this order as varints. Returns the payload bytes written.
inline std::size_t write_stats(const Stats& stats, Byte* to) {
    Writer out(to);
    for (auto field : stats_fields) out.varint(stats.*field);
    out.varint(stats.commands_refused);
    return out.size();
}

// Later versions may append fields; they are skipped. False: malformed.
inline bool read_stats(const Byte* payload, std::size_t count, Stats& stats) {
    Reader in(payload, count);
    stats = {};
    for (auto field : stats_fields) stats.*field = in.varint();
    if (in.left() != 0) stats.commands_refused = in.varint();
    return in.ok();
}

}  // namespace nopscope::wire
