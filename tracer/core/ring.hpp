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

// A popcount without libgcc and without FP registers, which the instruction needs.
constexpr unsigned ones(std::uint32_t bits) {
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
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

// Claims a slot, stamps `record` with the clock, and stores it. False: there was no room.
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
    if (head.kind() != protocol::Kind::extended) return 0;
    const std::uint32_t argument = head.argument();
    switch (head.extended()) {
    case protocol::Extended::duration: return 2;
    case protocol::Extended::arguments: return 1 + ones(argument & 0xffff);
    case protocol::Extended::result: return 2 + (argument & 1);
    case protocol::Extended::counter: return 1 + (argument & 1);
    case protocol::Extended::sample: return protocol::sample_addresses(argument);
    case protocol::Extended::masked: return 2;
    case protocol::Extended::events: return protocol::event_count(argument);
    default: return 0;
    }
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
// The limit of interrupts' records. They cannot wait, so in lossless mode it is above entries'.
inline std::uint64_t interrupt_limit(const Core& core) {
    if (__atomic_load_n(&core.entries_held, __ATOMIC_RELAXED) != 0) return 1;
    const std::uint64_t limit = own_limit(core);
    return limit == no_limit ? no_limit : limit - own_reserve_bytes;
}
// The limit of the firmware's records.
inline std::uint64_t mark_limit(const Core& core) {
    const std::uint64_t limit = own_limit(core);
    return limit == no_limit ? no_limit : limit - own_reserve_bytes - core.pump_reserve;
}
// The limit of entries. 1 lies below every position: entries are refused and counted.
inline std::uint64_t entry_limit(const Core& core) {
    return __atomic_load_n(&core.entries_held, __ATOMIC_RELAXED) != 0 ? 1 : mark_limit(core);
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

// Masks interrupts and takes the lock of a core's context, or another rare lock. If an interrupt
// waited for a lock that the interrupted code holds, neither would continue.
template <MachineConcept M>
class Locked {
public:
    Locked(M& machine, std::uint32_t& lock)
        : machine_(machine), lock_(lock), interrupts_(machine.mask_interrupts()) {
        while (__atomic_exchange_n(&lock_, 1, __ATOMIC_ACQUIRE) != 0) arch::relax();
    }
    ~Locked() {
        __atomic_store_n(&lock_, 0, __ATOMIC_RELEASE);
        machine_.restore_interrupts(interrupts_);
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    M& machine_;
    std::uint32_t& lock_;
    std::uint64_t interrupts_;
};

// Notes a switch to context `number`; flush_pending_context() puts its record. The lock is held.
template <MachineConcept M>
void switch_context(M& machine, Core& core, std::uint32_t number) {
    const Moment now = moment(machine, core);
    if (core.context_record_pending == 0 || core.switch_position != now.position) {
        core.switch_position = now.position;
        core.left_context_clock = now.clock;
    }
    core.entered_context_clock = now.clock;
    core.context_number = number;
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

// Puts the last switch's record in the ring, if it is not there. The lock is held. False: no room.
//
// The record may come late, because the ring was full or recording was stopped. If nothing was
// recorded since, it still has the clock of the switch. If other contexts ran in between, one
// record stands for all (several_contexts): the previous context does not get their time.
//
// In flight mode a record of the previous context comes first. So the first such record that the
// ring still holds names the context that the ring begins in.
//
// `began`: as in ring_claim(), for a record that will follow.
template <MachineConcept M>
bool flush_pending_context(M& machine, Core& core, std::uint64_t limit, Moment* began = nullptr) {
    if (core.context_record_pending == 0) return true;
    const bool several = core.left_context_clock != core.entered_context_clock;
    const std::uint64_t bytes =
        (1u + (core.flight != 0 ? 1u : 0u) + (several ? 1u : 0u)) * record_bytes;
    Moment left{core.switch_position, core.left_context_clock};
    const std::optional<Claim> claim = ring_claim(machine, core, bytes, limit, &left);
    if (!claim) return false;
    const bool in_time = left.position != core.switch_position;
    const std::uint64_t entered = in_time ? core.entered_context_clock : claim->clock;
    std::uint64_t position = claim->position;
    const auto store = [&](std::uint32_t number, std::uint64_t clock) {
        ring_store(core, position,
                   protocol::make_extended(protocol::Extended::context, number, clock).word);
        position += record_bytes;
    };
    if (core.flight != 0) store(core.last_context_recorded, claim->clock);
    if (several) store(protocol::several_contexts, claim->clock);
    store(core.context_number, entered);
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

// Sets `limit`, unless recording is stopped (it stays 0). A switch of context without a record is
// recorded first. If that has no room, an entry has none either, so the host never assigns an entry
// to the wrong context. Returns need no such care, because each names its entry.
template <MachineConcept M>
void ring_set_limit_locked(M& machine, Core& core) {
    std::uint64_t old = __atomic_load_n(&core.limit, __ATOMIC_RELAXED);
    const std::uint64_t limit = entry_limit(core);
    if (old != 0) (void)flush_pending_context(machine, core, limit);
    while (old != 0 && !__atomic_compare_exchange_n(&core.limit, &old, limit, true,
                                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
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
