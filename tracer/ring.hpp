// SPDX-License-Identifier: Apache-2.0
// The ring as C++ sees it: the tracer's own rare records, and the pump's end. The recorders'
// hot path is in arm64/recorders.S; core.hpp has the rules.
#pragma once

#include "hal/machine.hpp"
#include "tracer/core.hpp"

#include <optional>

namespace nopscope {

constexpr std::uint64_t lap_mask(std::uint64_t position) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(position >> lap_shift))
           << wire::kind_shift;
}
constexpr std::uint64_t record_index(std::uint64_t position) {
    return (position - ring_bytes) / record_bytes;
}

// The recorders store what is at hand: the body's address rounded down, which is the site plus 8, and
// the position of a return's entry, which counts from lap 1. This is what to take off.
constexpr std::uint64_t recorder_excess(wire::Record record) {
    switch (record.kind()) {
        case wire::Kind::call:
        case wire::Kind::entry: return std::uint64_t{8} << wire::kind_shift;
        case wire::Kind::ret: return (ring_bytes << 1) << wire::kind_shift;
        case wire::Kind::extended: break;
    }
    return 0;
}

inline std::uint64_t* ring_slot(const Core& core, std::uint64_t position) {
    return reinterpret_cast<std::uint64_t*>(core.ring + (position & (ring_bytes - 1)));
}

// Claims a slot while the cursor is below `limit`, stamps `record` with the clock, and stores it.
// Any context on the core that owns the ring. False: there was no room.
template <MachineConcept M>
bool ring_put(M& machine, Core& core, wire::Record record, std::uint64_t limit) {
    std::uint64_t position = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    std::uint64_t clock = 0;
    do {
        if (position >= limit) return false;
        clock = machine.clock();
    } while (!__atomic_compare_exchange_n(&core.cursor, &position, position + record_bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    const std::uint64_t word = record.is(wire::Extended::sync) ? wire::make_sync(clock).word
                                       : (record.word | static_cast<std::uint32_t>(clock)) +
                                             recorder_excess(record);
    __atomic_store_n(ring_slot(core, position), word ^ lap_mask(position), __ATOMIC_RELAXED);
    return true;
}

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};  // for returns

// How far the tracer's own records may go: all open calls can still return.
inline std::uint64_t own_limit(const Core& core) {
    if (__atomic_load_n(&core.overwrites, __ATOMIC_RELAXED) != 0) return no_limit;
    return __atomic_load_n(&core.tail, __ATOMIC_RELAXED) + ring_bytes -
           core.reserve;
}
// How far the firmware's records may go.
inline std::uint64_t mark_limit(const Core& core) {
    const std::uint64_t limit = own_limit(core);
    return limit == no_limit ? no_limit : limit - own_reserve_bytes - core.margin;
}
// How far entries may go. 1, below every position: they are refused, and counted.
inline std::uint64_t entry_limit(const Core& core) {
    return __atomic_load_n(&core.held, __ATOMIC_RELAXED) != 0 ? 1 : mark_limit(core);
}

// The record at `position`, once it is written.
inline std::optional<wire::Record> ring_peek(const Core& core, std::uint64_t position) {
    if (position >= __atomic_load_n(&core.cursor, __ATOMIC_RELAXED)) return std::nullopt;
    std::uint64_t word =
        __atomic_load_n(ring_slot(core, position), __ATOMIC_RELAXED) ^ lap_mask(position);
    constexpr std::uint64_t unwritten = std::uint64_t{1} << (wire::payload_shift - 1);
    if ((word & unwritten) != 0) return std::nullopt;
    return wire::Record{word - recorder_excess({word})};
}

// The 64-bit clock of a record, from that of a neighbour's. They are at most half a wrap apart, either
// way; a sync says the upper bits. A data record has none of its own: its head's.
constexpr std::uint64_t clock_of(wire::Record record, std::uint64_t neighbour) {
    if (record.is(wire::Extended::data)) return neighbour;
    if (record.is(wire::Extended::sync)) {
        return static_cast<std::uint64_t>(record.argument()) << 32 | record.clock_low();
    }
    const auto delta =
        static_cast<std::int32_t>(record.clock_low() - static_cast<std::uint32_t>(neighbour));
    return neighbour + static_cast<std::uint64_t>(static_cast<std::int64_t>(delta));
}

// Interrupts masked, and the lock of a core's context or of other rare things: a holder that were
// interrupted by who waits for it would never go on.
template <MachineConcept M>
class Locked {
public:
    Locked(M& machine, std::uint32_t& lock)
        : machine_(machine), lock_(lock), interrupts_(machine.mask_interrupts()) {
        while (__atomic_exchange_n(&lock_, 1, __ATOMIC_ACQUIRE) != 0) {
        }
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

template <MachineConcept M>
bool put_context(M& machine, Core& core, std::uint32_t number, std::uint64_t limit) {
    const std::uint32_t payload = number << 4 | static_cast<std::uint32_t>(wire::Extended::context);
    return ring_put(machine, core, wire::make_record(wire::Kind::extended, payload, 0), limit);
}

// Puts the record of the last switch of context into the ring, if it is not there. In flight mode one
// of the context that was left comes before it: so the first such record in what is left of the ring
// names the context that the ring begins in. Locked. False: no room.
template <MachineConcept M>
bool say_context(M& machine, Core& core, std::uint64_t limit) {
    if (core.unsaid == 0) return true;
    if (core.flight != 0 && !put_context(machine, core, core.said_context, limit)) return false;
    if (!put_context(machine, core, core.context_number, limit)) return false;
    core.said_context = core.context_number;
    core.unsaid = 0;
    return true;
}

// Sets `limit`, unless recording is stopped (0, which stays). A switch of context that has not been
// said comes first. Where there is no room for it there is none for an entry either, so the host
// never takes one for another context's. Returns need no such care, since each names its entry.
template <MachineConcept M>
void ring_set_limit_locked(M& machine, Core& core) {
    std::uint64_t old = __atomic_load_n(&core.limit, __ATOMIC_RELAXED);
    const std::uint64_t limit = entry_limit(core);
    if (old != 0) (void)say_context(machine, core, limit);
    while (old != 0 && !__atomic_compare_exchange_n(&core.limit, &old, limit, true, __ATOMIC_RELEASE,
                                                    __ATOMIC_RELAXED)) {
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
