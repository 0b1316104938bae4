// SPDX-License-Identifier: Apache-2.0
// Flight: a ring whose newest records take the place of the oldest, until somebody wants to see it.
//
// settle() makes such a ring an ordinary one: entries are refused, what a return or an entry that was
// under way may still claim is set aside, and `tail` is moved to the oldest record outside of that. What
// it passes over is `overwritten`. From there on the pump sends the ring as always, and the same rules
// keep producers off what it has not read.
//
// At the new tail two things must be known that the records before it would have told: the 64-bit clock,
// which is found by walking back from now (syncs are a quarter wrap apart), and the context, which the
// first record of a switch tells (flush_pending_context).
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

// One for each interrupt level: an entry that has seen the old limit. The rest is for marks.
inline constexpr std::uint64_t settle_slack_bytes = 2 * max_interrupt_depth * record_bytes;

// Records that are no more in the ring, and were not read.
inline std::uint64_t lapped_records(const Core& core) {
    const std::uint64_t waiting = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED) - core.tail;
    return waiting > ring_bytes ? (waiting - ring_bytes) / record_bytes : 0;
}

// The first position after `position` where a whole record begins.
inline std::uint64_t next_record(const Core& core, std::uint64_t position) {
    for (;;) {
        position += record_bytes;
        const auto record = ring_peek(core, position);
        if (!record || !record->is(protocol::Extended::data)) return position;
    }
}

struct RingBegin {
    std::uint64_t position;
    std::uint64_t clock;  // of the first record there
    std::uint32_t context;
};

// What to begin with at `position`, from what was at `end`.
inline RingBegin walk_back(const Core& core, std::uint64_t position, RingBegin end) {
    while (end.position != position) {
        end.position -= record_bytes;
        const auto record = ring_peek(core, end.position);
        if (!record || record->is(protocol::Extended::data)) continue;
        end.clock = clock_of(*record, end.clock);
        if (record->is(protocol::Extended::context)) end.context = record->argument();
    }
    return end;
}

// The pump only; any core's ring.
template <MachineConcept M>
void settle(M& machine, Core& core) {
    RingBegin end{0, 0, 0};
    {
        const Locked locked(machine, core.context_lock);
        __atomic_store_n(&core.entries_held, 1, __ATOMIC_RELAXED);
        ring_set_limit_locked(machine, core);
        // Whoever reads the limit from here on reads the new one.
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        end = {__atomic_load_n(&core.cursor, __ATOMIC_RELAXED), machine.clock(), core.last_context_recorded};
    }
    const std::uint64_t keep =
        ring_bytes - core.reserve - own_reserve_bytes - settle_slack_bytes - core.pump_reserve;
    RingBegin begin{core.tail, core.pumped_clock, core.pumped_context};
    if (core.overwrites != 0 && end.position - core.tail > keep) {
        // Before doubled_from nothing tells the context.
        std::uint64_t tail = end.position - keep;
        if (tail < core.doubled_from) tail = core.doubled_from;
        begin = walk_back(core, next_record(core, tail - record_bytes), end);
    }
    const Locked locked(machine, core.context_lock);
    core.overwritten += (begin.position - core.tail) / record_bytes;
    core.pumped_clock = begin.clock;
    core.pumped_context = begin.context;
    if (begin.position != core.tail) core.pumped_site_next = false;
    if (core.overwrites != 0) __atomic_store_n(&core.own_records, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&core.tail, begin.position, __ATOMIC_RELEASE);
    __atomic_store_n(&core.overwrites, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&core.entries_held, 0, __ATOMIC_RELAXED);
    ring_set_limit_locked(machine, core);
}

// The opposite. `doubled`: switches of context have been doubled since before the tail.
template <MachineConcept M>
void overwrite(M& machine, Core& core, bool doubled) {
    const Locked locked(machine, core.context_lock);
    core.flight = 1;
    if (!doubled) core.doubled_from = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    __atomic_store_n(&core.overwrites, 1, __ATOMIC_RELAXED);
    ring_set_limit_locked(machine, core);
}

}  // namespace nopscope
