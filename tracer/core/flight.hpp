// SPDX-License-Identifier: Apache-2.0
// Flight mode: the newest records of a ring overwrite the oldest, until a snapshot is requested.
//
// settle() turns such a ring into an ordinary one:
// - It refuses entries.
// - It leaves room for records that returns, and unfinished entries, may still claim.
// - It moves `tail` to the oldest record outside of that room. Skipped records are `overwritten`.
// Then the pump sends the ring as usual, and producers do not overwrite what it has not read.
//
// At the new tail settle() needs two facts that the records before it would have told. It finds the
// 64-bit clock by walking back from now (syncs are a quarter wrap apart). The first record of a
// switch names the previous context (flush_pending_context).
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

// On each interrupt level one entry may have read the old limit. The other half is for marks.
inline constexpr std::uint64_t settle_slack_bytes = 2 * max_interrupt_depth * record_bytes;

// Records that were overwritten before the pump read them.
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

// Walks back from `end` to `position`. Returns the state at `position`.
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

// Only the pump calls it, for any core's ring.
template <MachineConcept M>
void settle(M& machine, Core& core) {
    RingBegin end{0, 0, 0};
    {
        const Locked locked(machine, core.context_lock);
        __atomic_store_n(&core.entries_held, 1, __ATOMIC_RELAXED);
        ring_set_limit_locked(machine, core);
        // After this fence every core reads the new limit.
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        end = {__atomic_load_n(&core.cursor, __ATOMIC_RELAXED), machine.clock(),
               core.last_context_recorded};
    }
    const std::uint64_t keep =
        ring_bytes - core.reserve - own_reserve_bytes - settle_slack_bytes - core.pump_reserve;
    RingBegin begin{core.tail, core.pumped_clock, core.pumped_context};
    if (core.overwrites != 0 && end.position - core.tail > keep) {
        // Before doubled_from no record tells the previous context.
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

// The opposite of settle(). `doubled`: each switch of context since the tail has two records.
template <MachineConcept M>
void overwrite(M& machine, Core& core, bool doubled) {
    const Locked locked(machine, core.context_lock);
    core.flight = 1;
    if (!doubled) core.doubled_from = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    __atomic_store_n(&core.overwrites, 1, __ATOMIC_RELAXED);
    ring_set_limit_locked(machine, core);
}

}  // namespace nopscope
