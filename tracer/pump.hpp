// SPDX-License-Identifier: Apache-2.0
// The pump: empties the rings and the console into frames, and feeds them to the line.
//
// It runs where the firmware calls it, in an idle loop or a timer interrupt, and in a recorder's slow
// path when recording is lossless. Only one runs at a time (`try_lock`); it never waits, except
// in the two loops that are asked to (make_room, flush). What it does for longer than a glance is
// bracketed by tracer_begin and tracer_end records, so no function is charged for it.
//
// A frame is built whole and only then taken off the ring, so a panic in between loses nothing: it
// builds the same frame again.
#pragma once

#include "tracer/console_buffer.hpp"
#include "tracer/line.hpp"
#include "tracer/ring.hpp"
#include "tracer/wire/hello.hpp"
#include "tracer/wire/stats.hpp"
#include "tracer/wire/trace.hpp"

namespace nopscope {

template <MachineConcept M>
class Pump {
public:
    constexpr Pump(M& machine, Core& core) : machine_(machine), core_(core), line_(machine) {}

    // `hello` is kept by pointer; `session` tells this boot from the last.
    void open(const Config& config, const wire::Hello& hello, std::uint16_t session) {
        hello_ = &hello;
        session_ = session;
        clock_hz_ = config.clock_hz;
        lossless_margin_ = config.mode == Mode::lossless ? ring_bytes / 8 : 0;
        line_.open(config.output, config.line_bytes_per_second, config.clock_hz);
        core_.margin = lossless_margin_;
        ring_set_limit(core_);
        hello_due_ = stats_due_ = machine_.clock();
    }

    // One go within the pace; see nopscope::pump().
    void run() {
        if (!try_lock()) return;
        keep_clock();
        if (work_waits()) {
            const bool marked = put_own(wire::Extended::tracer_begin);
            while (advance(Until::paced)) {
            }
            if (marked) put_own(wire::Extended::tracer_end);
        }
        unlock();
    }

    // From a recorder's slow path: pumps until half the ring is free. False when that cannot be,
    // because the pump, or a recorder in the middle of a record, is what was interrupted. Interrupts
    // wait, too: their records might come faster than the line takes them, and have nowhere to go.
    bool make_room() {
        const std::uint64_t interrupts = machine_.mask_interrupts();
        const bool room = locked_make_room();
        machine_.restore_interrupts(interrupts);
        return room;
    }

    // Sends everything, waiting for the line.
    void flush() {
        if (!try_lock()) return;
        send_all();
        line_.drain();
        unlock();
    }

    // The same, and the last stats frame; recording has been stopped. An interrupt may still record the
    // return of an open call, so the counters are read when the ring is seen empty with interrupts
    // masked.
    void finish() {
        if (!try_lock()) return;
        for (bool counted = false; !counted;) {
            send_all();
            const std::uint64_t interrupts = machine_.mask_interrupts();
            counted = waiting_records() == 0;
            if (counted) queue_stats(true);
            machine_.restore_interrupts(interrupts);
        }
        send_all();
        line_.drain();
        unlock();
    }

    // From here on nothing else runs: whoever held the lock will not come back.
    void enter_panic() {
        locked_ = 0;
        line_.unpace();
        flush();
    }

    // Bytes for the console. Waits for the line where it may; what cannot wait is dropped and counted.
    void console(const char* bytes, std::size_t count) {
        while (count > 0) {
            const std::uint64_t interrupts = machine_.mask_interrupts();
            const std::size_t taken = console_.put(bytes, count);
            machine_.restore_interrupts(interrupts);
            bytes += taken;
            count -= taken;
            if (count == 0) break;
            if (!try_lock()) {
                console_dropped_ += count;
                break;
            }
            while (!console_.empty()) advance(Until::empty);
            unlock();
        }
    }

private:
    enum class Until { paced, empty };

    static constexpr std::uint64_t frame_records = 128;     // enough to be worth a frame
    static constexpr std::uint64_t frames_per_second = 100;  // at least, while there are records
    static constexpr std::size_t console_frame_bytes = 512;

    // The lock and the limit change together: an interrupt between them would find the ring full and
    // nobody free to empty it.
    bool try_lock() {
        const std::uint64_t interrupts = machine_.mask_interrupts();
        const bool free = __atomic_exchange_n(&locked_, 1, __ATOMIC_ACQUIRE) == 0;
        if (free) {
            core_.margin = 0;
            ring_set_limit(core_);
        }
        machine_.restore_interrupts(interrupts);
        return free;
    }
    void unlock() {
        const std::uint64_t interrupts = machine_.mask_interrupts();
        core_.margin = lossless_margin_;
        ring_set_limit(core_);
        __atomic_store_n(&locked_, 0, __ATOMIC_RELEASE);
        machine_.restore_interrupts(interrupts);
    }

    bool locked_make_room() {
        if (!try_lock()) return false;
        const bool marked = put_own(wire::Extended::tracer_begin);
        bool room = true;
        while (room && core_.cursor - core_.tail > ring_bytes / 2) {
            advance(Until::empty);
            room = !line_.idle() || ring_peek(core_, core_.tail).has_value();
        }
        if (marked) put_own(wire::Extended::tracer_end);
        unlock();
        return room;
    }

    void send_all() {
        while (advance(Until::empty) || !line_.idle()) {
        }
    }

    bool put_own(wire::Extended what) {
        const auto payload = static_cast<std::uint32_t>(what);
        if (!ring_put(machine_, core_, wire::make_record(wire::Kind::extended, payload, 0),
                      own_limit(core_))) {
            return false;
        }
        ++core_.own_records;
        return true;
    }

    // A sync record before the 32-bit clock can be misread: every quarter wrap.
    void keep_clock() {
        const std::uint64_t now = machine_.clock();
        if (now - core_.last_sync < std::uint64_t{1} << 30) return;
        if (put_own(wire::Extended::sync)) core_.last_sync = now;
    }

    std::uint64_t waiting_records() const {
        return (__atomic_load_n(&core_.cursor, __ATOMIC_RELAXED) - core_.tail) / record_bytes;
    }
    // Own records alone are not worth a frame, until their reserve runs low.
    bool trace_due() const {
        const std::uint64_t records = waiting_records();
        if (records >= frame_records + core_.own_records) return true;
        if (core_.own_records * record_bytes >= own_reserve_bytes / 2) return true;
        return records > core_.own_records &&
               machine_.clock() - core_.last_trace_frame >= clock_hz_ / frames_per_second;
    }
    bool due(std::uint64_t at) const { return static_cast<std::int64_t>(machine_.clock() - at) >= 0; }
    bool work_waits() const {
        return !line_.idle() || !console_.empty() || due(hello_due_) || due(stats_due_) || trace_due();
    }

    // One step: finishes the frame on the line, or builds the next. False when there is nothing to do
    // now.
    bool advance(Until until) {
        if (!line_.idle()) return line_.send();
        if (due(hello_due_)) {
            hello_due_ = machine_.clock() + clock_hz_;
            return queue(wire::Stream::hello, hello_sequence_, write_hello(*hello_, frame_.payload()));
        }
        if (!console_.empty()) {
            return queue(wire::Stream::console, console_sequence_,
                         console_.get(frame_.payload(), console_frame_bytes));
        }
        if ((until == Until::empty || trace_due()) && queue_trace()) return true;
        if (due(stats_due_)) {
            stats_due_ = machine_.clock() + clock_hz_;
            return queue_stats(false);
        }
        return false;
    }

    bool queue(wire::Stream stream, std::uint32_t& sequence, std::size_t payload_bytes) {
        const wire::FrameHeader header{stream, 0, session_, sequence};
        const std::size_t encoded = frame_.encode(header, payload_bytes, line_.buffer());
        line_.queue(encoded);
        ++sequence;
        return true;
    }

    bool queue_stats(bool final) {
        const std::uint64_t dropped = __atomic_load_n(&core_.dropped, __ATOMIC_RELAXED);
        // All fields at once: clearing them first would be a call of memset.
        const wire::Stats stats{
            .now = machine_.clock(),
            .generated = record_index(core_.cursor) + dropped,
            .delivered = record_index(core_.tail),
            .dropped = dropped,
            .unhooked = core_.unhooked,
            .foreign = core_.foreign,
            .console_dropped = console_dropped_,
            .final = final ? 1u : 0u,
        };
        return queue(wire::Stream::stats, stats_sequence_, write_stats(stats, frame_.payload()));
    }

    // False when the record at the ring's tail is not written (yet).
    bool queue_trace() {
        std::uint64_t position = core_.tail;
        std::uint64_t clock = core_.pumped_clock;
        std::uint64_t own = 0;
        wire::TraceWriter out(frame_.payload(),
                              {record_index(position), clock,
                               __atomic_load_n(&core_.dropped, __ATOMIC_RELAXED)},
                              static_cast<std::uint32_t>(hello_->text_base));
        while (out.has_room()) {
            const std::optional<wire::Record> record = ring_peek(core_, position);
            if (!record) break;
            clock = clock_of(*record, clock);
            own += record->kind() == wire::Kind::extended;
            out.put(*record, clock);
            position += record_bytes;
        }
        if (position == core_.tail) return false;
        queue(wire::Stream::trace, trace_sequence_, out.size());
        core_.pumped_clock = clock;
        core_.last_trace_frame = machine_.clock();
        core_.own_records -= own;
        ring_release(core_, position);
        return true;
    }

    // Records are at most half a wrap apart, either way; a sync says the upper bits.
    static std::uint64_t clock_of(wire::Record record, std::uint64_t before) {
        if (record.kind() == wire::Kind::extended && record.extended() == wire::Extended::sync) {
            return static_cast<std::uint64_t>(record.argument()) << 32 | record.clock_low();
        }
        const auto delta =
            static_cast<std::int32_t>(record.clock_low() - static_cast<std::uint32_t>(before));
        return before + static_cast<std::uint64_t>(static_cast<std::int64_t>(delta));
    }

    M& machine_;
    Core& core_;
    Line<M> line_;
    ConsoleBuffer console_;
    wire::FrameBuilder frame_;
    const wire::Hello* hello_ = nullptr;
    std::uint64_t clock_hz_ = 1;
    std::uint64_t hello_due_ = 0;
    std::uint64_t stats_due_ = 0;
    std::uint64_t console_dropped_ = 0;
    std::uint64_t lossless_margin_ = 0;
    std::uint32_t hello_sequence_ = 0;
    std::uint32_t trace_sequence_ = 0;
    std::uint32_t console_sequence_ = 0;
    std::uint32_t stats_sequence_ = 0;
    std::uint32_t locked_ = 0;
    std::uint16_t session_ = 0;
};

}  // namespace nopscope
