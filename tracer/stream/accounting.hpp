// SPDX-License-Identifier: Apache-2.0
// A core's account at one instant: each generated record is either delivered, dropped, overwritten,
// aggregated or filtered.
#pragma once

#include "tracer/core/flight.hpp"
#include "tracer/protocol/stats.hpp"

namespace nopscope {

// Counts only records that the pump has taken off the ring, none that is still in it. Reads each
// counter once, so the fields agree even if a core records meanwhile. Only the pump calls it.
inline protocol::Stats stats_of(const Core& core, std::uint64_t now, std::uint64_t console_dropped,
                                std::uint64_t final) {
    const std::uint64_t dropped = __atomic_load_n(&core.dropped, __ATOMIC_RELAXED);
    const std::uint64_t filtered = filtered_of(core), aggregated = core.aggregated;
    const std::uint64_t delivered = record_index(core.tail) - core.overwritten;
    const std::uint64_t overwritten = core.overwritten + lapped_records(core);
    // Sets all fields at once: if it cleared them first, the compiler would call memset.
    return {
        .now = now,
        .generated = delivered + overwritten + dropped + aggregated + filtered,
        .delivered = delivered,
        .dropped = dropped,
        .shadow_stack_full = core.shadow_stack_full,
        .off_stack = core.off_stack,
        .console_dropped = console_dropped,
        .final = final,
        .overwritten = overwritten,
        .aggregated = aggregated,
        .filtered = filtered,
        .stray_returns = core.stray_returns,
        .undeferred = core.undeferred,
    };
}

}  // namespace nopscope
