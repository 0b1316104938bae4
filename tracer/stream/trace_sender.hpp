// SPDX-License-Identifier: Apache-2.0
// Encodes the rings' records into payloads of trace frames, for the pump.
//
// It takes records off the ring only when their frame is complete, so a panic in between loses
// nothing. The encoder has encoded them by then, so the panic calls restart().
#pragma once

#include "tracer/core/ring.hpp"
#include "tracer/protocol/trace_group.hpp"

#include <algorithm>

namespace nopscope {

template <MachineConcept M>
class TraceSender {
public:
    // `encoders`: one for each core.
    constexpr TraceSender(M& machine, protocol::TraceEncoder* encoders)
        : machine_(machine), encoders_(encoders) {}

    void open(std::uint64_t text_base, std::uint64_t clock_hz) {
        text_base_ = static_cast<std::uint32_t>(text_base);
        clock_hz_ = clock_hz;
    }

    // True if there are enough records for a frame, or if they have waited long enough. Records
    // that the tracer adds do not count until they use half of their reserve.
    bool due(const Core& core) const {
        if (core.overwrites != 0) return false;
        const std::uint64_t records = waiting_records(core);
        if (records >= frame_records + core.own_records) return true;
        if (core.own_records * record_bytes >= own_reserve_bytes / 2) return true;
        if (__atomic_load_n(&core.send_to, __ATOMIC_RELAXED) > core.tail) return true;
        return records > core.own_records &&
               machine_.clock() - core.last_trace_frame >= clock_hz_ / frames_per_second;
    }

    // Begins a frame of core `number` in `payload` (room for protocol::max_payload_bytes). False:
    // the record at the ring's tail is not written (yet).
    bool begin(Core& core, unsigned number, protocol::Byte* payload) {
        if (!ring_peek(core, core.tail)) return false;
        protocol::TraceEncoder& encoder = encoders_[number];
        const std::uint64_t now = machine_.clock();
        if (now - core.last_key_frame >= key_seconds * clock_hz_) encoder.restart();
        left_ = mind_clock(core);
        end_ = {core.tail, core.pumped_clock, core.pumped_context, core.pumped_site_next, 0};
        encoder.begin(payload, {.index = record_index(core.tail),
                                .clock = core.pumped_clock,
                                .dropped = __atomic_load_n(&core.dropped, __ATOMIC_RELAXED),
                                .overwritten = core.overwritten,
                                .context = core.pumped_context});
        if (encoder.is_key()) core.last_key_frame = now;
        return true;
    }
    // Goes on with at most `records`, or prepares the encoder with at most `pieces` of that work.
    // Returns the frame's size; 0: call it again.
    std::size_t build(const Core& core, unsigned number, std::uint64_t records,
                      std::size_t pieces) {
        protocol::TraceEncoder& encoder = encoders_[number];
        if (!encoder.prepare(pieces)) return 0;
        const std::uint32_t before = encoder.count();
        const std::uint64_t at_most = std::min(left_, records);
        End end = end_;
        encoder.fill(at_most, [&](protocol::Record& record, std::uint64_t& clock) {
            return next(core, end, record, clock);
        });
        end_ = end;
        const std::uint64_t taken = encoder.count() - before;
        left_ -= taken;
        return taken == at_most && left_ != 0 && encoder.has_room() ? 0 : encoder.end();
    }
    // The frame is queued: takes its records off the ring.
    void release(Core& core) {
        // Not interruptible: an interrupt that panics sends again what is in the ring.
        const std::uint64_t interrupts = machine_.mask_interrupts();
        core.pumped_clock = end_.clock;
        core.pumped_context = end_.context;
        core.pumped_site_next = end_.site_next;
        core.last_trace_frame = machine_.clock();
        __atomic_fetch_sub(&core.own_records, std::min(core.own_records, end_.own),
                           __ATOMIC_RELAXED);
        ring_release(machine_, core, end_.position);
        machine_.restore_interrupts(interrupts);
    }

    // Makes this core's next frame a key frame. Any context.
    void want_key(Core& core) { core.last_key_frame = machine_.clock() - key_seconds * clock_hz_; }
    // The same, but only the pump may call it.
    void restart(unsigned number) { encoders_[number].restart(); }

    static std::uint64_t waiting_records(const Core& core) {
        return (__atomic_load_n(&core.cursor, __ATOMIC_RELAXED) -
                __atomic_load_n(&core.tail, __ATOMIC_RELAXED)) /
               record_bytes;
    }

private:
    // Header, CRC and flush take about 25 bytes of a frame, a record about a tenth of a byte.
    static constexpr std::uint64_t frame_records =
        std::min<std::uint64_t>(4096, ring_bytes / record_bytes / 8);
    static constexpr std::uint64_t frames_per_second = 100;  // at least, while there are records
    static constexpr std::uint64_t key_seconds = 2;  // between key frames: a host may start late

    struct End {
        std::uint64_t position;
        std::uint64_t clock;
        std::uint32_t context;
        bool site_next;     // the next record is data: the site of this one
        std::uint64_t own;  // records that the tracer added
    };

    [[gnu::always_inline]] bool next(const Core& core, End& end, protocol::Record& record,
                                     std::uint64_t& clock) const {
        if (!ring_read(core, end.position, record)) return false;
        end.position += record_bytes;
        if (record.kind() == protocol::Kind::extended) [[unlikely]] {
            end.clock = clock = clock_after(record, end.clock);
            record = extended(record, end);
            return true;
        }
        end.clock = clock = clock_near(record, end.clock);
        // On the line, sites are relative to text_base.
        if (record.kind() != protocol::Kind::ret)
            record.word -= std::uint64_t{text_base_} << protocol::kind_shift;
        return true;
    }
    [[gnu::noinline]] protocol::Record extended(protocol::Record record, End& end) const {
        const bool is_site = end.site_next;
        end.site_next = protocol::has_site(record.extended());
        switch (record.extended()) {
        case protocol::Extended::sync:
        case protocol::Extended::tracer_begin:
        case protocol::Extended::tracer_end: ++end.own; break;
        case protocol::Extended::context: end.context = record.argument(); break;
        default: break;
        }
        return is_site ? protocol::make_data(site_of((record.data() << 3) - text_base_)) : record;
    }

    // As clock_of(), for records that may be further apart: up to 1/16 of a wrap earlier than the
    // record before, or less than 15/16 later.
    static constexpr std::uint32_t backwards_ticks = 1u << 28;
    static std::uint64_t clock_after(protocol::Record record, std::uint64_t before) {
        if (record.is(protocol::Extended::data)) return before;
        if (record.is(protocol::Extended::sync)) return clock_of(record, before);
        return clock_near(record, before);
    }
    static std::uint64_t clock_near(protocol::Record record, std::uint64_t before) {
        const std::uint32_t forwards =
            record.clock_low() - static_cast<std::uint32_t>(before) + backwards_ticks;
        return before + forwards - backwards_ticks;
    }

    // No pump looked between last_certain_clock, before the record at `tail`, and the next sync
    // record, or now. If whole wraps are missing, they passed in the longest pause between records.
    void settle_doubt(Core& core) const {
        std::uint64_t clock = core.pumped_clock = core.last_certain_clock;
        std::uint64_t longest = 0;
        core.clock_uncertain_from = 0;
        for (std::uint64_t at = core.tail;; at += record_bytes) {
            const std::optional<protocol::Record> found = ring_peek(core, at);
            const bool known = !found || found->is(protocol::Extended::sync);
            const std::uint64_t before = clock;
            clock = found ? clock_after(*found, before) : machine_.clock();
            const std::uint64_t pause = clock - before + backwards_ticks;
            const std::uint64_t wraps = known ? pause >> 32 << 32 : 0;
            if (pause - wraps > longest) {
                longest = pause - wraps;
                core.clock_base_slot = known ? 0 : at;
                core.clock_base = before;
            }
            if (!known) continue;
            core.clock_base += wraps;
            if (wraps == 0) core.clock_base_slot = 0;
            return;
        }
    }
    // Prepares the clock of the frame that begins at the tail. Returns how many records it may
    // have: it ends before a record whose clock does not follow from the one before.
    std::uint64_t mind_clock(Core& core) const {
        if (core.clock_uncertain_from == core.tail) settle_doubt(core);
        if (core.clock_base_slot == core.tail) core.pumped_clock = core.clock_base;
        // Flight mode may have skipped these positions. It knows the clock at the tail.
        if (core.clock_uncertain_from <= core.tail) core.clock_uncertain_from = 0;
        if (core.clock_base_slot <= core.tail) core.clock_base_slot = 0;
        const std::uint64_t next =
            core.clock_base_slot != 0 ? core.clock_base_slot : core.clock_uncertain_from;
        return next == 0 ? frame_records
                         : std::min(frame_records, (next - core.tail) / record_bytes);
    }

    M& machine_;
    protocol::TraceEncoder* encoders_;
    End end_{};               // of the frame under construction
    std::uint64_t left_ = 0;  // how many more records it may have
    std::uint64_t clock_hz_ = 1;
    std::uint32_t text_base_ = 0;
};

}  // namespace nopscope
