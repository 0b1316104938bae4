// SPDX-License-Identifier: Apache-2.0
// A record has the lower 32 bits of the clock. These keep what a reader needs for the upper ones.
// The pump calls them often, with its lock.
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

// Notes that the ring's records up to its end are older than now.
template <MachineConcept M>
void note_cursor(M& machine, Core& core) {
    core.seen_clock = clock_of_next(machine, core);
    core.seen = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
}

// Puts a sync record every quarter wrap, before a 32-bit clock becomes ambiguous. If no pump has
// looked for half a wrap or more, TraceSender resolves the clocks of the records since.
template <MachineConcept M>
void keep_clock(M& machine, Core& core) {
    const std::uint64_t now = machine.clock();
    const auto since = [now](std::uint64_t then) { return static_cast<std::int64_t>(now - then); };
    if (since(core.seen_clock) >= std::int64_t{1} << 31 && core.clock_uncertain_from == 0) {
        core.clock_uncertain_from = core.seen;
        core.last_certain_clock = core.seen_clock;
        note_cursor(machine, core);
    }
    if (since(core.last_sync) < std::int64_t{1} << 30) return;
    if (put_own(machine, core, protocol::Extended::sync)) core.last_sync = now;
}

}  // namespace nopscope
