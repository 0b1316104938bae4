// SPDX-License-Identifier: Apache-2.0
// Stats: one core's counters, cumulative since init. The core is the frame header's.
#pragma once

#include "tracer/protocol/frame.hpp"

namespace nopscope::protocol {

struct Stats {
    std::uint64_t now = 0;        // clock, ticks
    std::uint64_t generated = 0;  // records claimed in the ring, and calls that made none
    std::uint64_t delivered = 0;  // records put into frames
    std::uint64_t dropped = 0;    // records refused because the ring was full
    std::uint64_t shadow_stack_full = 0;   // graph calls not recorded: the shadow stack was full
    std::uint64_t off_stack = 0;    // graph calls not recorded: SP outside the context's bounds
    std::uint64_t console_dropped = 0;  // console bytes
    std::uint64_t final = 0;            // 1: recording is over, and the ring is empty
    std::uint64_t overwritten = 0;  // records that never were sent, since newer ones took their place
    std::uint64_t aggregated = 0;   // calls that the profile has added up, as of its last read-out
    std::uint64_t filtered = 0;     // calls that a filter on the target kept out
    std::uint64_t commands_refused = 0;  // core 0: corrupt, foreign, malformed or unknown
    // Written together, or none of them: older targets, and sessions kept over a reset.
    bool has_state = false;
    std::uint64_t recursions = 0;  // callbacks and captures left out inside another one
    std::uint64_t mode = 0;        // in force: a protocol::Mode
    std::uint64_t recorders = 0;   // in force: bit n: overhead_index() n; 0: none
    std::uint64_t since = 0;       // clock at the last change of mode or recorders
    std::uint64_t stopped_at = 0;  // clock when a request stopped recording; 0: it is on
    std::uint64_t profile = 0;     // 0: the target keeps no profile; else 1 + its last whole read-out
    // Behind those.
    std::uint64_t stray_returns = 0;  // hooked calls that returned in another context, unrecorded
};

inline constexpr std::uint64_t Stats::*stats_fields[] = {
    &Stats::now,      &Stats::generated, &Stats::delivered,       &Stats::dropped,
    &Stats::shadow_stack_full, &Stats::off_stack,   &Stats::console_dropped, &Stats::final,
    &Stats::overwritten, &Stats::aggregated, &Stats::filtered,
};
inline constexpr std::uint64_t Stats::*state_fields[] = {
    &Stats::recursions, &Stats::mode,       &Stats::recorders,
    &Stats::since,      &Stats::stopped_at, &Stats::profile,
};

inline constexpr std::size_t max_stats_bytes =
    (sizeof stats_fields / sizeof *stats_fields + 2 + sizeof state_fields / sizeof *state_fields) *
    max_varint_bytes;

// The fields in this order as varints. Returns the payload bytes written.
inline std::size_t write_stats(const Stats& stats, Byte* to) {
    Writer out(to);
    for (auto field : stats_fields) out.varint(stats.*field);
    out.varint(stats.commands_refused);
    if (!stats.has_state) return out.size();
    for (auto field : state_fields) out.varint(stats.*field);
    out.varint(stats.stray_returns);
    return out.size();
}

// Later versions may append fields; they are skipped. False: malformed.
inline bool read_stats(const Byte* payload, std::size_t count, Stats& stats) {
    Reader in(payload, count);
    stats = {};
    for (auto field : stats_fields) stats.*field = in.varint();
    if (in.left() != 0) stats.commands_refused = in.varint();
    stats.has_state = in.left() != 0;
    if (stats.has_state) {
        for (auto field : state_fields) stats.*field = in.varint();
    }
    if (in.left() != 0) stats.stray_returns = in.varint();
    return in.ok();
}

}  // namespace nopscope::protocol
