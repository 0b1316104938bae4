// SPDX-License-Identifier: Apache-2.0
// The payload of a stats frame: one core's counters since init. The frame header names the core.
#pragma once

#include "tracer/protocol/frame.hpp"

namespace nopscope::protocol {

struct Stats {
    std::uint64_t now = 0;        // clock, ticks
    std::uint64_t generated = 0;  // delivered + dropped + overwritten + aggregated + filtered
    std::uint64_t delivered = 0;  // records put into frames
    std::uint64_t dropped = 0;    // records refused because the ring was full
    std::uint64_t shadow_stack_full = 0;  // calls not hooked: the shadow stack was full
    std::uint64_t off_stack = 0;          // calls not hooked: SP outside the context's bounds
    std::uint64_t console_dropped = 0;    // console bytes
    std::uint64_t final = 0;              // 1: recording has ended, and the ring is empty
    std::uint64_t overwritten = 0;        // records that newer ones overwrote before they were sent
    std::uint64_t aggregated = 0;         // calls in the profile, as of its last read-out
    std::uint64_t filtered = 0;           // calls that a filter on the target left out
    std::uint64_t commands_refused = 0;   // core 0: corrupt, foreign, malformed or unknown
    // A frame has all fields from here on or none: older targets and recovered sessions have none.
    bool has_state = false;
    std::uint64_t recursions = 0;  // callbacks and captures left out inside another one
    std::uint64_t mode = 0;        // the current protocol::Mode
    std::uint64_t recorders = 0;   // the current ones: bit n: overhead_index() n; 0: none
    std::uint64_t since = 0;       // clock at the last change of mode or recorders
    std::uint64_t stopped_at = 0;  // clock when a request stopped recording; 0: it is on
    std::uint64_t profile = 0;     // 0: no profile is kept; else 1 + its last whole read-out
    // Newer than the fields above: they may be absent.
    std::uint64_t stray_returns = 0;  // hooked calls that returned in another context, unrecorded
    std::uint64_t undeferred = 0;     // interrupts of recorders that a vector did not defer
};

inline constexpr std::uint64_t Stats::*stats_fields[] = {
    &Stats::now,
    &Stats::generated,
    &Stats::delivered,
    &Stats::dropped,
    &Stats::shadow_stack_full,
    &Stats::off_stack,
    &Stats::console_dropped,
    &Stats::final,
    &Stats::overwritten,
    &Stats::aggregated,
    &Stats::filtered,
};
inline constexpr std::uint64_t Stats::*state_fields[] = {
    &Stats::recursions, &Stats::mode,       &Stats::recorders,
    &Stats::since,      &Stats::stopped_at, &Stats::profile,
};

inline constexpr std::size_t max_stats_bytes =
    (sizeof stats_fields / sizeof *stats_fields + 3 + sizeof state_fields / sizeof *state_fields) *
    max_varint_bytes;

// Writes the fields as varints, in this order. Returns the payload's size in bytes.
inline std::size_t write_stats(const Stats& stats, Byte* to) {
    Writer out(to);
    for (auto field : stats_fields) out.varint(stats.*field);
    out.varint(stats.commands_refused);
    if (!stats.has_state) return out.size();
    for (auto field : state_fields) out.varint(stats.*field);
    out.varint(stats.stray_returns);
    out.varint(stats.undeferred);
    return out.size();
}

// Skips fields that later versions append. False: malformed.
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
    if (in.left() != 0) stats.undeferred = in.varint();
    return in.ok();
}

}  // namespace nopscope::protocol
