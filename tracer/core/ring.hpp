// SPDX-License-Identifier: Apache-2.0
// The ring in C++: it writes the tracer's rare records, and reads all records for the pump. The
// recorders' hot path is in arch/arm64/recorders.S; core.hpp has the rules.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/core.hpp"

#include <optional>
#include <span>

namespace nopscope {

constexpr std::uint64_t lap_mask(std::uint64_t position) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(position >> lap_shift))
           << protocol::kind_shift;
}
constexpr std::uint64_t record_index(std::uint64_t position) {
    return (position - ring_bytes) / record_bytes;
}

// What the pump subtracts from a record in the ring. The recorders store the body's address rounded
// down (site + body_offset), and the position of a return's entry, which counts from lap 1.
constexpr std::uint64_t recorder_excess(protocol::Record record) {
    switch (record.kind()) {
    case protocol::Kind::call:
    case protocol::Kind::entry: return body_offset << protocol::kind_shift;
    case protocol::Kind::ret: return (ring_bytes << 1) << protocol::kind_shift;
    case protocol::Kind::extended: break;
    }
    return 0;
}

inline std::uint64_t* ring_slot(const Core& core, std::uint64_t position) {
    return reinterpret_cast<std::uint64_t*>(core.ring + (position & (ring_bytes - 1)));
}

// When the tracer's work began on this core: the ring's end, and then the clock. If the next record
// is put at that position, it may have that time.
struct Moment {
    std::uint64_t position = 0;  // 0: none
    std::uint64_t clock = 0;
};
template <MachineConcept M>
Moment moment(M& machine, const Core& core) {
    const std::uint64_t position = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    return {position, machine.clock()};
}

// Masks interrupts while it exists.
template <MachineConcept M>
class InterruptsMasked {
public:
    explicit InterruptsMasked(M& machine)
        : machine_(machine), interrupts_(machine.mask_interrupts()) {}
    ~InterruptsMasked() { machine_.restore_interrupts(interrupts_); }
    InterruptsMasked(const InterruptsMasked&) = delete;
    InterruptsMasked& operator=(const InterruptsMasked&) = delete;

private:
    M& machine_;
    std::uint64_t interrupts_;
};

struct Claim {
    std::uint64_t position;
    std::uint64_t clock;
};
// Claims `bytes` whose end is not above `limit`, and reads the clock, or takes that of `began` if
// nothing was recorded since. Any context on the ring's core. Null: there is no room.
template <MachineConcept M>
std::optional<Claim> ring_claim(M& machine, Core& core, std::uint64_t bytes, std::uint64_t limit,
                                Moment* began = nullptr) {
    Claim claim{__atomic_load_n(&core.cursor, __ATOMIC_RELAXED), 0};
    do {
        if (claim.position + bytes > limit) return std::nullopt;
        claim.clock = machine.clock();
    } while (!__atomic_compare_exchange_n(&core.cursor, &claim.position, claim.position + bytes,
                                          true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (began != nullptr && began->position == claim.position) {
        claim.clock = began->clock;
        began->position += bytes;
    }
    return claim;
}

// Stores a record's word with the lap, as the recorders do.
inline void ring_store(const Core& core, std::uint64_t position, std::uint64_t word) {
    __atomic_store_n(ring_slot(core, position), word ^ lap_mask(position), __ATOMIC_RELAXED);
}

// Claims a slot, stamps `record` with the clock, and stores it. Interrupts are masked: a task that
// was preempted in between would leave a hole, at which the pump has to stop. False: there was no
// room.
template <MachineConcept M>
bool ring_put(M& machine, Core& core, protocol::Record record, std::uint64_t limit,
              Moment* began = nullptr) {
    const std::optional<Claim> claim = ring_claim(machine, core, record_bytes, limit, began);
    if (!claim) return false;
    if (record.is(protocol::Extended::sync)) record = protocol::make_sync(claim->clock);
    const std::uint64_t word = record.word | static_cast<std::uint32_t>(claim->clock);
    ring_store(core, claim->position, word + recorder_excess(record));
    return true;
}

// The same for an extended record and its data, claimed together and stored in any order:
// ring_read() returns the head only when all are written. `data`: data_count() words of 57 bits.
inline void ring_store_many(const Core& core, const Claim& claim, protocol::Record head,
                            std::span<const std::uint64_t> data) {
    std::uint64_t position = claim.position;
    ring_store(core, position, head.word | static_cast<std::uint32_t>(claim.clock));
    for (const std::uint64_t value : data) {
        ring_store(core, position += record_bytes, protocol::make_data(value).word);
    }
}
template <MachineConcept M>
bool ring_put_many(M& machine, Core& core, protocol::Record head,
                   std::span<const std::uint64_t> data, std::uint64_t limit) {
    const std::optional<Claim> claim =
        ring_claim(machine, core, (1 + data.size()) * record_bytes, limit);
    if (claim) ring_store_many(core, *claim, head, data);
    return claim.has_value();
}

// A site in a data record, as in a call's payload: bits 3..31 of the function's run-time address.
constexpr std::uint64_t site_of(std::uint64_t function) {
    return static_cast<std::uint32_t>(function) >> 3;
}

// How many data records follow this one.
constexpr unsigned data_count(protocol::Record head) {
    return head.kind() == protocol::Kind::extended
               ? protocol::data_count(head.extended(), head.argument())
               : 0;
}

// Returns a record's 64-bit clock. `before`: the clock of the record before or after it, at most
// half a wrap away. A sync has the upper bits itself. A data record has the clock of its head.
constexpr std::uint64_t clock_of(protocol::Record record, std::uint64_t before) {
    if (record.is(protocol::Extended::data)) return before;
    if (record.is(protocol::Extended::sync)) {
        return static_cast<std::uint64_t>(record.argument()) << 32 | record.clock_low();
    }
    const auto delta =
        static_cast<std::int32_t>(record.clock_low() - static_cast<std::uint32_t>(before));
    return before + static_cast<std::uint64_t>(static_cast<std::int64_t>(delta));
}

inline void add_one(std::uint64_t& counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }
inline std::uint64_t filtered_of(const Core& core) {
    return __atomic_load_n(&core.filtered, __ATOMIC_RELAXED) +
           __atomic_load_n(&core.calls_skipped, __ATOMIC_RELAXED);
}

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};  // for returns

// True if this core records no calls.
inline bool is_stopped(const Core& core) {
    return __atomic_load_n(&core.limit, __ATOMIC_RELAXED) == 0;
}

// The limit of records that the tracer adds: it leaves room for the returns of all open calls.
inline std::uint64_t own_limit(const Core& core) {
    if (__atomic_load_n(&core.overwrites, __ATOMIC_RELAXED) != 0) return no_limit;
    return __atomic_load_n(&core.tail, __ATOMIC_RELAXED) + ring_bytes - core.reserve;
}
// Puts a record that the tracer adds. Needs: no switch of context waits for its record, and
// interrupts are masked. False: there was no room.
template <MachineConcept M>
bool put_own_said(M& machine, Core& core, protocol::Extended what, std::uint32_t argument = 0,
                  Moment* began = nullptr) {
    const protocol::Record record = protocol::make_extended(what, argument);
    if (!ring_put(machine, core, record, own_limit(core), began)) return false;
    __atomic_fetch_add(&core.own_records, 1, __ATOMIC_RELAXED);
    return true;
}
// The limit of marks, which do not wait. They are few and wanted, so it is above entries'.
inline std::uint64_t mark_limit(const Core& core) {
    const std::uint64_t limit = own_limit(core);
    return limit == no_limit ? no_limit : limit - own_reserve_bytes;
}
// A limit below every position. What has it is refused and counted, but recording is not stopped.
inline constexpr std::uint64_t refuses_all = 1;
// The limit of interrupts' records, which do not wait either.
inline std::uint64_t interrupt_limit(const Core& core) {
    return __atomic_load_n(&core.entries_held, __ATOMIC_RELAXED) != 0 ? refuses_all
                                                                      : mark_limit(core);
}
// The limit of entries.
inline std::uint64_t entry_limit(const Core& core) {
    const std::uint64_t limit = interrupt_limit(core);
    return limit == no_limit || limit == refuses_all ? limit : limit - core.pump_reserve;
}

// The word at `position` without the lap; with unwritten_bit it is not written in this lap.
inline constexpr std::uint64_t unwritten_bit = std::uint64_t{1} << (protocol::payload_shift - 1);
inline std::uint64_t ring_word(const Core& core, std::uint64_t position) {
    return __atomic_load_n(ring_slot(core, position), __ATOMIC_RELAXED) ^ lap_mask(position);
}

[[gnu::noinline]] inline bool is_data_written(const Core& core, std::uint64_t head_position,
                                              protocol::Record head) {
    for (unsigned left = data_count(head); left != 0; --left) {
        if ((ring_word(core, head_position + left * record_bytes) & unwritten_bit) != 0)
            return false;
    }
    return true;
}
// Reads the record at `position`. False: it, or data that belong to it, are not written (yet).
[[gnu::always_inline]] inline bool ring_read(const Core& core, std::uint64_t position,
                                             protocol::Record& record) {
    if (position >= __atomic_load_n(&core.cursor, __ATOMIC_RELAXED)) return false;
    record.word = ring_word(core, position);
    if ((record.word & unwritten_bit) != 0) return false;
    if (record.kind() == protocol::Kind::extended) [[unlikely]]
        return is_data_written(core, position, record);
    record.word -= recorder_excess(record);
    return true;
}
inline std::optional<protocol::Record> ring_peek(const Core& core, std::uint64_t position) {
    protocol::Record record;
    return ring_read(core, position, record) ? std::optional(record) : std::nullopt;
}

// Holds the lock of a core's context, or another rare lock. Interrupts are masked: if an interrupt
// waited for a lock that the interrupted code holds, neither would continue.
class LockHeld {
public:
    explicit LockHeld(std::uint32_t& lock) : lock_(lock) {
        while (__atomic_exchange_n(&lock_, 1, __ATOMIC_ACQUIRE) != 0) arch::relax();
    }
    ~LockHeld() { __atomic_store_n(&lock_, 0, __ATOMIC_RELEASE); }
    LockHeld(const LockHeld&) = delete;
    LockHeld& operator=(const LockHeld&) = delete;

private:
    std::uint32_t& lock_;
};
// Masks interrupts, and holds such a lock.
template <MachineConcept M>
class Locked {
public:
    Locked(M& machine, std::uint32_t& lock) : masked_(machine), held_(lock) {}

private:
    InterruptsMasked<M> masked_;
    LockHeld held_;
};

// Notes a switch to context `number` at clock `now`; flush_pending_context() puts its record.
// `moved`: what a record says of the core where it has recorded; 0: nothing. `how`: the core left
// the context before. The lock is held.
inline void switch_context(Core& core, std::uint32_t number, std::uint64_t now,
                           std::uint64_t moved = 0, protocol::Left how = protocol::Left::unknown) {
    const std::uint64_t position = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    const bool is_first = core.context_record_pending == 0;
    // The record of several switches tells of none how it came.
    core.left = is_first ? static_cast<std::uint64_t>(how) : 0;
    if (is_first || core.switch_position != position) {
        core.switch_position = position;
        core.left_context_clock = now;
    }
    core.entered_context_clock = now;
    core.context_number = number;
    core.moved = moved;
    core.context_record_pending = 1;
}

// No later record has an earlier clock: now, or that of a switch whose record comes next.
template <MachineConcept M>
std::uint64_t clock_of_next(M& machine, Core& core) {
    const std::uint64_t now = machine.clock();
    if (__atomic_load_n(&core.context_record_pending, __ATOMIC_RELAXED) == 0) return now;
    const Locked locked(machine, core.context_lock);
    const bool is_next = core.context_record_pending != 0 && core.switch_position == core.cursor;
    return is_next ? core.left_context_clock : now;
}

inline protocol::Record left_record(const Core& core, std::uint64_t clock) {
    const auto how = static_cast<protocol::Left>(core.left);
    return protocol::make_extended(protocol::Extended::task, protocol::left_argument(how), clock);
}

// Puts the last switch's record in the ring, if it is not there. The lock is held. False: no room.
//
// The record may come late, because the ring was full or recording was stopped. If nothing was
// recorded since, it still has the clock of the switch. If other contexts ran in between, one
// record stands for all (several_contexts): the previous context does not get their time.
//
// If the context has moved to this core, a record behind it says so. If the firmware has said how
// the core left the context before, another one says that.
//
// In flight mode a record of the previous context comes first. So the first such record that the
// ring still holds names the context that the ring begins in.
//
// `began`: as in ring_claim(), for a record that will follow.
template <MachineConcept M>
bool flush_pending_context(M& machine, Core& core, std::uint64_t limit, Moment* began = nullptr) {
    if (core.context_record_pending == 0) return true;
    const bool several = core.left_context_clock != core.entered_context_clock;
    const std::uint64_t bytes = (1u + (core.flight != 0 ? 1u : 0u) + (several ? 1u : 0u) +
                                 (core.moved != 0 ? 2u : 0u) + (core.left != 0 ? 1u : 0u)) *
                                record_bytes;
    Moment left{core.switch_position, core.left_context_clock};
    const std::optional<Claim> claim = ring_claim(machine, core, bytes, limit, &left);
    if (!claim) return false;
    const bool in_time = left.position != core.switch_position;
    const std::uint64_t entered = in_time ? core.entered_context_clock : claim->clock;
    std::uint64_t position = claim->position;
    const auto store = [&](protocol::Record record) {
        ring_store(core, position, record.word);
        position += record_bytes;
    };
    const auto store_switch = [&](std::uint32_t number, std::uint64_t clock) {
        store(protocol::make_extended(protocol::Extended::context, number, clock));
    };
    if (core.flight != 0) store_switch(core.last_context_recorded, claim->clock);
    if (several) store_switch(protocol::several_contexts, claim->clock);
    store_switch(core.context_number, entered);
    if (core.moved != 0) {
        constexpr std::uint32_t fact = protocol::task_argument(protocol::TaskFact::moved, 1);
        store(protocol::make_extended(protocol::Extended::task, fact, entered));
        store(protocol::make_data(core.moved));
        core.moved = 0;
    }
    if (core.left != 0) store(left_record(core, entered));
    core.last_context_recorded = core.context_number;
    core.context_record_pending = 0;
    const auto since = [entered](std::uint64_t clock) {
        return static_cast<std::int64_t>(clock - entered);
    };
    if (began != nullptr && began->position == claim->position && since(began->clock) >= 0) {
        began->position = position;
    }
    return true;
}

// Returns put(limit), which puts a record. The record of a pending switch of context comes first,
// so the host assigns the other to the right context. False also if the switch has no room.
template <MachineConcept M, typename Put>
bool put_in_context(M& machine, Core& core, Put put,
                    std::uint64_t (*limit_of)(const Core&) = entry_limit) {
    const Locked locked(machine, core.context_lock);
    const std::uint64_t limit = limit_of(core);
    return flush_pending_context(machine, core, limit) && put(limit);
}

// Puts a record that the tracer adds after the record of the last switch, so that it belongs to the
// running context. Any context that does not hold the lock. False: there was no room for both.
template <MachineConcept M>
bool put_own(M& machine, Core& core, protocol::Extended what, std::uint32_t argument = 0,
             Moment* began = nullptr) {
    const Locked locked(machine, core.context_lock);
    return flush_pending_context(machine, core, own_limit(core), began) &&
           put_own_said(machine, core, what, argument, began);
}

// Sets `limit`, unless recording is stopped (it stays 0).
inline void limit_entries(Core& core, std::uint64_t limit) {
    std::uint64_t old = __atomic_load_n(&core.limit, __ATOMIC_RELAXED);
    while (old != 0 && !__atomic_compare_exchange_n(&core.limit, &old, limit, true,
                                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}
// Sets `limit`, unless recording is stopped. A switch of context without a record is recorded
// first. If that has no room, an entry, which may be smaller, gets none either: the host would
// assign it to the wrong context. Returns need no such care, because each names its entry.
template <MachineConcept M>
void ring_set_limit_locked(M& machine, Core& core) {
    const std::uint64_t limit = entry_limit(core);
    if (is_stopped(core)) return;
    limit_entries(core, flush_pending_context(machine, core, limit) ? limit : refuses_all);
}
template <MachineConcept M>
[[gnu::noinline]] void put_switch_or_wait(M& machine, Core& core, std::uint64_t limit) {
    if (!flush_pending_context(machine, core, limit)) limit_entries(core, refuses_all);
}
// After a switch of context: its record comes before any entry's. If it has no room below the
// limit, an entry has none either, until ring_set_limit_locked(). Returns do not wait. A reader
// knows their context by their entries, unless the context has moved here: then the record may have
// the tracer's own room. The lock is held.
template <MachineConcept M>
void put_switch(M& machine, Core& core) {
    const bool may_return = core.moved != 0 && core.top != core.shadow_base;
    const std::uint64_t limit =
        may_return ? own_limit(core) : __atomic_load_n(&core.limit, __ATOMIC_RELAXED);
    if (limit == 0) return;
    // Mostly it is a record or two, and nothing was recorded since the switch.
    std::uint64_t position = core.switch_position;
    const std::uint64_t bytes = core.left != 0 ? 2 * record_bytes : record_bytes;
    const bool is_simple = (core.flight | core.moved) == 0 &&
                           core.left_context_clock == core.entered_context_clock &&
                           position + bytes <= limit;
    if (!is_simple || !__atomic_compare_exchange_n(&core.cursor, &position, position + bytes, false,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return put_switch_or_wait(machine, core, limit);
    }
    ring_store(core, position,
               protocol::make_extended(protocol::Extended::context, core.context_number,
                                       core.entered_context_clock)
                   .word);
    if (core.left != 0)
        ring_store(core, position + record_bytes,
                   left_record(core, core.entered_context_clock).word);
    core.last_context_recorded = core.context_number;
    core.context_record_pending = 0;
}
template <MachineConcept M>
void ring_set_limit(M& machine, Core& core) {
    const Locked locked(machine, core.context_lock);
    ring_set_limit_locked(machine, core);
}

// Gives the slots before `position` back to the producers; their contents have been read.
template <MachineConcept M>
void ring_release(M& machine, Core& core, std::uint64_t position) {
    __atomic_store_n(&core.tail, position, __ATOMIC_RELEASE);
    ring_set_limit(machine, core);
}

}  // namespace nopscope
