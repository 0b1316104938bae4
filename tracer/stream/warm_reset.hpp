// SPDX-License-Identifier: Apache-2.0
// Two things survive a warm reset: the rings, which boot does not clear, and this header.
//
// The pump updates the header when it has sent frames. It cleans the header and the rings to the
// point of coherency, a bounded piece at a time. So after a sudden reset the header is that of the
// last pump. The next boot finds later records in the ring: from the header's cursor on, slots that
// were written (and reached memory) hold this lap's parity.
//
// The pump uses no sequence number twice, even if the header is out of date. The header holds a
// limit, `sequence_limit`. In each stream, the numbers of all frames that were sent lie below it:
// before the first byte of a frame that reaches the limit, the pump raises it and cleans the header
// to memory (WarmResetWriter::cover). The next boot numbers all streams of the recovered session
// from the limit on.
//
// - A reset while the pump writes the header leaves a wrong CRC: the next boot recovers nothing,
//   and its session has another number (session_after).
// - A session's limit begins at 0, so its first frame writes its first header. Before that the
//   header is invalid (begin_keeping): the previous session is not sent again.
// - The boot that sends a recovered session raises the limit in the same way. If another reset
//   interrupts it, the next boot sends the session again, from the new limit on.
// - None of this depends on the clock.
//
// Boot checks everything. The header must have the right CRC and belong to this image. Each record
// must have a known kind, name a site in the table or an entry before it, and not go back in time.
// Boot treats any other record as a slot that was never written.
#pragma once

#include "tracer/core/flight.hpp"
#include "tracer/protocol/crc32c.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope {

// The state at a ring's tail: a frame begins with it.
struct WarmResetTail {
    std::uint64_t position;
    std::uint64_t clock;      // as pumped_clock
    std::uint64_t context;    // as pumped_context
    std::uint64_t site_next;  // as pumped_site_next
    std::uint64_t overwritten;
};

struct WarmResetCore {
    std::uint64_t cursor;
    WarmResetTail tail;
    std::uint64_t last_context_recorded;
    std::uint64_t dropped;
    std::uint64_t shadow_stack_full;
    std::uint64_t off_stack;
    std::uint64_t filtered;
    std::uint64_t aggregated;
};

struct alignas(64) WarmResetHeader {
    static constexpr std::uint64_t right_magic = 0x6e6f'7073'636f'7031;   // "nopscop1"
    static constexpr std::uint64_t number_magic = 0x6e6f'7073'636f'7030;  // only `session` is valid

    std::uint64_t magic;
    std::uint64_t image;   // CRC-32C of the build-id, continued from the site table's CRC
    std::uint64_t layout;  // of the rings: address of the first, XOR ring_log2
    std::uint64_t cores;
    std::uint64_t session;
    std::uint64_t flight;  // 1: in flight mode
    std::uint64_t lossless;
    std::uint64_t clock_hz;
    std::uint64_t now;             // clock
    std::uint64_t sequence_limit;  // all used sequence numbers lie below it
    std::uint64_t console_dropped;
    WarmResetCore core[max_cores];
    std::uint64_t crc;  // CRC-32C of all before it
};

inline std::uint32_t crc_of(const WarmResetHeader& kept) {
    return protocol::crc32c(reinterpret_cast<const std::uint8_t*>(&kept),
                            offsetof(WarmResetHeader, crc));
}

// Cleans [from, from + bytes) to the point of coherency. A data_barrier() must follow.
template <MachineConcept M>
void clean_to_poc(M& machine, Address from, std::size_t bytes) {
    const std::size_t line = machine.poc_line_bytes();
    for (Address at = from & ~(Address{line} - 1); at < from + bytes; at += line)
        machine.clean_to_poc(at);
}

template <MachineConcept M>
void clean_header(M& machine, const WarmResetHeader& kept) {
    clean_to_poc(machine, reinterpret_cast<std::uintptr_t>(&kept), sizeof kept);
    machine.data_barrier();
}

// Cleans the ring's new records, at most `most` bytes.
template <MachineConcept M>
void clean_ring(M& machine, Core& core, std::uint64_t most) {
    const std::uint64_t cursor = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    if (cursor - core.cleaned > ring_bytes) core.cleaned = cursor - ring_bytes;
    // From the begin of the last cleaned line: its last slots may have been written since.
    const std::uint64_t from = core.cleaned & ~std::uint64_t{63};
    const std::uint64_t to = cursor - from > most ? from + most : cursor;
    for (std::uint64_t at = from; at < to; at += 64) {
        clean_to_poc(machine, reinterpret_cast<std::uintptr_t>(ring_slot(core, at)), 64);
    }
    core.cleaned = to;
}

inline void keep_tail(WarmResetTail& kept, const Core& core) {
    kept.position = core.tail;
    kept.clock = core.pumped_clock;
    kept.context = core.pumped_context;
    kept.site_next = core.pumped_site_next;
    kept.overwritten = core.overwritten;
}
inline void keep_core(WarmResetCore& kept, const Core& core) {
    kept.cursor = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
    keep_tail(kept.tail, core);
    kept.last_context_recorded = core.last_context_recorded;
    kept.dropped = __atomic_load_n(&core.dropped, __ATOMIC_RELAXED);
    kept.shadow_stack_full = core.shadow_stack_full;
    kept.off_stack = core.off_stack;
    kept.filtered = filtered_of(core);
    kept.aggregated = core.aggregated;
}

// What the header must agree with: records of another image or of other rings cannot be read.
struct WarmResetImage {
    std::uint64_t image;
    std::uint64_t layout;
    std::uint64_t cores;
    std::uint64_t clock_hz;
};
// `clock_hz`: CNTVCT's rate. Hello's may be measured, so it is not the same at each boot.
inline WarmResetImage kept_image(const protocol::Hello& hello, std::uint64_t clock_hz,
                                 std::uint64_t rings) {
    return {protocol::crc32c(hello.build_id.data, hello.build_id.size, hello.site_table_crc),
            rings ^ ring_log2, hello.cores, clock_hz};
}
// To a reader a sequence number is later if it is less than 2^31 ahead: no limit may be beyond.
inline constexpr std::uint64_t most_sequence_limit = (std::uint64_t{1} << 31) - 1;
inline bool is_whole(const WarmResetHeader& kept, const WarmResetImage& of) {
    return kept.magic == WarmResetHeader::right_magic && kept.crc == crc_of(kept) &&
           kept.image == of.image && kept.layout == of.layout && kept.cores == of.cores &&
           kept.clock_hz == of.clock_hz && kept.sequence_limit <= most_sequence_limit;
}
// True if an earlier boot with the tracer, of any image, has left its session's number.
inline bool is_after_reset(const WarmResetHeader& kept) {
    return kept.magic == WarmResetHeader::right_magic ||
           kept.magic == WarmResetHeader::number_magic;
}
// The number of the session that begins. After a warm reset it is the next one, which no other of
// the last 65,535 boots had. The clock alone might read the same as at the last boot.
inline std::uint16_t session_after(const WarmResetHeader& kept, std::uint64_t clock) {
    if (is_after_reset(kept)) return static_cast<std::uint16_t>(kept.session + 1);
    return static_cast<std::uint16_t>(clock ^ clock >> 16 ^ clock >> 32);
}
// Makes the old header invalid in memory. After it the rings may be cleared.
template <MachineConcept M>
void begin_keeping(M& machine, WarmResetHeader& kept, const WarmResetImage& of) {
    kept.crc = ~std::uint64_t{0};
    kept.magic = WarmResetHeader::right_magic;
    kept.image = of.image;
    kept.layout = of.layout;
    kept.cores = of.cores;
    kept.clock_hz = of.clock_hz;
    clean_header(machine, kept);
}

// In place of begin_keeping() if the rings are not kept over a reset: no later boot finds a valid
// header, also not that of an earlier session, whose records are lost now. It finds only the
// session's number, which lies in the header's first cache line.
template <MachineConcept M>
void keep_number_only(M& machine, WarmResetHeader& kept, std::uint16_t session) {
    kept.magic = WarmResetHeader::number_magic;
    kept.session = session;
    clean_to_poc(machine, reinterpret_cast<std::uintptr_t>(&kept),
                 offsetof(WarmResetHeader, flight));
    machine.data_barrier();
}

// Makes a slot look as if it was never written.
inline void unwrite(const Core& core, std::uint64_t position) {
    __atomic_store_n(ring_slot(core, position), lap_mask(position) ^ unwritten_bit,
                     __ATOMIC_RELAXED);
}

// `is_site` takes the low 32 bits of a run-time address.
template <typename IsSite>
bool is_plausible(protocol::Record record, std::uint64_t position, IsSite is_site) {
    switch (record.kind()) {
    case protocol::Kind::call:
    case protocol::Kind::entry: return is_site(record.site_low());
    case protocol::Kind::ret: {
        const std::uint64_t index = record_index(position);
        const std::uint64_t back = (index - record.entry_index()) & protocol::entry_index_mask;
        return back != 0 && back <= index;
    }
    case protocol::Kind::extended: break;
    }
    return protocol::is_known(record.extended());
}

// Returns how many laps after the lap of `cursor` the slots before it were last written. One slot
// does not tell: one that was claimed and not written holds the record of a lap before, which reads
// like one of a later lap; one that was never written is zero. But a call's site and a return's
// index are XORed with the lap. So the result is the lap in which most calls and returns of 256
// slots are plausible, or without any, the lap in which most slots are written.
template <typename IsSite>
std::uint64_t laps_since(const Core& core, std::uint64_t cursor, IsSite is_site) {
    constexpr std::uint64_t most_laps = 64, looked_at = 256;
    std::uint64_t laps = 0, best = 0;
    for (std::uint64_t n = 0; n < most_laps; ++n) {
        std::uint64_t score = 0;
        for (std::uint64_t back = 1;
             back <= looked_at && cursor - back * record_bytes >= ring_bytes; ++back) {
            const std::uint64_t at = cursor - back * record_bytes + n * ring_bytes;
            const auto record = ring_peek(core, at);
            if (!record || __atomic_load_n(ring_slot(core, at), __ATOMIC_RELAXED) == 0) continue;
            const bool tells =
                record->kind() != protocol::Kind::extended && is_plausible(*record, at, is_site);
            score += tells ? looked_at : 1;
        }
        if (score > best) {
            laps = n;
            best = score;
        }
    }
    return laps;
}

// Returns where the ring's written part ends: from `cursor` on, or laps_since() laps later.
template <typename IsSite>
std::uint64_t find_cursor(Core& core, std::uint64_t cursor, IsSite is_site) {
    constexpr std::uint64_t holes = 2 * max_interrupt_depth;  // slots not written at the reset
    core.cursor = ~std::uint64_t{0};
    const std::uint64_t from = cursor + laps_since(core, cursor, is_site) * ring_bytes;
    std::uint64_t end = from;
    for (std::uint64_t at = from; at < from + ring_bytes && at - end <= holes * record_bytes;
         at += record_bytes) {
        if (ring_peek(core, at)) end = at + record_bytes;
    }
    return end;
}

struct Recovered {
    std::uint64_t records;
    std::uint64_t refused;
    std::uint32_t headers_refused;  // 1: there was a header, but it is invalid
};

// Checks the records between tail and cursor, counts them, and unwrites implausible ones. `clock`:
// of the record before the tail.
template <typename IsSite>
void leave_out_implausible(Core& core, std::uint64_t clock, std::uint64_t clock_hz, IsSite is_site,
                           Recovered& found) {
    for (std::uint64_t at = core.tail; at < core.cursor; at += record_bytes) {
        const auto record = ring_peek(core, at);
        if (!record) continue;
        const std::uint64_t its = clock_of(*record, clock);
        const auto step = static_cast<std::int64_t>(its - clock);
        if (step < -static_cast<std::int64_t>(clock_hz / 1000) ||
            !is_plausible(*record, at, is_site)) {
            unwrite(core, at);
            ++found.refused;
            continue;
        }
        clock = its;
        ++found.records;
    }
}

// Restores in `core`, which is cleared except for `ring`, the pump's state. `now`: the header's.
template <typename IsSite>
Recovered recover_core(Core& core, const WarmResetCore& kept, std::uint64_t now,
                       std::uint64_t clock_hz, IsSite is_site) {
    Recovered found{0, 0, 0};
    const std::uint64_t cursor = find_cursor(core, kept.cursor, is_site);
    core.cursor = cursor;
    const WarmResetTail& tail = kept.tail;
    RingBegin begin{tail.position, tail.clock, static_cast<std::uint32_t>(tail.context)};
    if (cursor - tail.position > ring_bytes) {
        begin = walk_back(core, next_record(core, cursor - ring_bytes - record_bytes),
                          {cursor, now, static_cast<std::uint32_t>(kept.last_context_recorded)});
    }
    core.tail = begin.position;
    core.overwritten = tail.overwritten + (begin.position - tail.position) / record_bytes;
    core.dropped = kept.dropped;
    core.shadow_stack_full = kept.shadow_stack_full;
    core.off_stack = kept.off_stack;
    core.pumped_clock = begin.clock;
    core.pumped_context = begin.context;
    core.pumped_site_next = begin.position == tail.position && tail.site_next != 0;
    core.filtered = kept.filtered;
    core.aggregated = kept.aggregated;
    core.reserve = return_reserve_bytes;
    leave_out_implausible(core, begin.clock, clock_hz, is_site, found);
    return found;
}

// Restores all cores, which have been cleared. ring_of(n) returns the address of core n's ring.
template <typename RingOf, typename IsSite>
Recovered recover(const WarmResetHeader& kept, const WarmResetImage& of, Core* cores,
                  RingOf ring_of, IsSite is_site) {
    Recovered all{0, 0, 0};
    if (!is_whole(kept, of)) {
        all.headers_refused = kept.magic == WarmResetHeader::right_magic;
        return all;
    }
    for (unsigned n = 0; n < of.cores; ++n) {
        set_ring(cores[n], ring_of(n));
        const Recovered one =
            recover_core(cores[n], kept.core[n], kept.now, kept.clock_hz, is_site);
        all.records += one.records;
        all.refused += one.refused;
    }
    return all;
}

}  // namespace nopscope
