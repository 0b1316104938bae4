// SPDX-License-Identifier: Apache-2.0
// The rings' modes, and the snapshots of flight mode. The pump changes them between two frames.
//
// A snapshot settles all rings (flight.hpp). The pump sends them up to their ends at that time.
// Then the rings overwrite their oldest records again.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/flight.hpp"

#include <algorithm>
#include <span>

namespace nopscope {

template <MachineConcept M>
class Modes {
public:
    constexpr explicit Modes(M& machine) : machine_(machine) {}

    // `pace`: the line's, in bytes a second, or 0.
    void open(std::span<Core> cores, std::uint64_t clock_hz, std::uint64_t pace) {
        cores_ = cores;
        pace_ = pace;
        hole_patience_ = clock_hz / 50;
        mode_ = Mode::stream;
        wanted_ = static_cast<std::uint8_t>(Mode::stream);
        sending_ = ending_ = false;
        set_pace(pace);
    }

    // These only request; keep() executes them. Any context.
    void want(Mode mode) {
        __atomic_store_n(&wanted_, static_cast<std::uint8_t>(mode), __ATOMIC_RELAXED);
    }
    void want_snapshot() {
        if (mode_ != Mode::flight) return;
        for (Core& core : cores_) {
            __atomic_store_n(&core.entries_held, 1, __ATOMIC_RELAXED);
            ring_set_limit(machine_, core);
        }
        // Last: otherwise a pump in between would admit entries before it knows of the snapshot.
        __atomic_fetch_add(&snapshots_wanted_, 1, __ATOMIC_RELEASE);
    }
    bool wait() const { return !ending_ && (mode_changes() || snapshot_waits() || is_out()); }

    // Recording has ended: all that the rings hold will be sent. `patience`: ticks to wait for a
    // slot that is claimed and not written.
    void end(std::uint64_t patience) {
        ending_ = true;
        hole_patience_ = patience;
        settle_all();
    }

    // Only the pump calls the functions below, with its lock.

    // Executes requests. True: a mode or a snapshot began or ended, so each core's next frame
    // should be a key frame. A snapshot that waits for the end of another one has not begun.
    bool keep() {
        if (ending_) return false;
        const bool changes = mode_changes() || is_out() || (snapshot_waits() && !sending_);
        keep_mode();
        keep_snapshot();
        return changes;
    }
    bool is(Mode mode) const { return mode_ == mode; }
    Mode mode() const { return mode_; }
    void set_pace(std::uint64_t pace) {
        pace_ = pace;
        for (Core& core : cores_) {
            core.pump_reserve = margin();
            ring_set_limit(machine_, core);
        }
    }
    // Bytes that entries leave free for records that do not wait. Lossless: for many interrupts.
    // Adaptive: all but half a second of the line at a byte a record, so old records do not block
    // new ones. Flight: settle() leaves room itself.
    std::uint64_t margin() const {
        if (mode_ == Mode::lossless) return ring_bytes / 8;
        if (mode_ == Mode::flight) return 0;
        if (mode_ != Mode::adaptive || pace_ == 0) return mark_reserve_bytes;
        constexpr std::uint64_t all = ring_bytes - return_reserve_bytes - own_reserve_bytes;
        const std::uint64_t room = std::max(pace_ / 2 * record_bytes, all / 8);
        return all > room + mark_reserve_bytes ? all - room : mark_reserve_bytes;
    }

    // Skips the slot at the tail if it was claimed, but not written for so long that it may never
    // be. False: nothing was skipped. In stream mode the pump waits for the record.
    bool skip_unwritten(Core& core) {
        if (mode_ != Mode::flight && !ending_) return false;
        if (core.overwrites != 0 || core.tail >= __atomic_load_n(&core.cursor, __ATOMIC_RELAXED) ||
            ring_peek(core, core.tail)) {
            return false;
        }
        const std::uint64_t now = machine_.clock();
        if (core.unwritten_slot != core.tail) {
            core.unwritten_slot = core.tail;
            core.unwritten_since = now;
        }
        if (now - core.unwritten_since < hole_patience_) return false;
        const std::uint64_t interrupts = machine_.mask_interrupts();
        const std::uint64_t next = next_record(core, core.tail);
        core.overwritten += (next - core.tail) / record_bytes;
        core.pumped_site_next = false;
        ring_release(machine_, core, next);
        machine_.restore_interrupts(interrupts);
        return true;
    }
    // True if the records that were just read had been overwritten: they count as overwritten.
    bool skip_lap(Core& core) {
        if (mode_ != Mode::flight || lapped_records(core) == 0) return false;
        overwrite(machine_, core, true);
        settle(machine_, core);
        return true;
    }

private:
    Mode wanted() const { return static_cast<Mode>(__atomic_load_n(&wanted_, __ATOMIC_RELAXED)); }
    bool mode_changes() const { return wanted() != mode_; }
    bool snapshot_waits() const {
        return mode_ == Mode::flight &&
               __atomic_load_n(&snapshots_wanted_, __ATOMIC_ACQUIRE) != snapshots_seen_;
    }
    // True if the current snapshot has been sent.
    bool is_out() const {
        if (!sending_) return false;
        for (const Core& core : cores_) {
            if (core.tail < core.snapshot_end) return false;
        }
        return true;
    }
    void settle_all() {
        for (Core& core : cores_) settle(machine_, core);
    }
    void keep_mode() {
        const Mode mode = wanted();
        if (mode == mode_) return;
        const Mode before = mode_;
        mode_ = mode;
        sending_ = false;
        for (Core& core : cores_) {
            __atomic_store_n(&core.lossless, mode == Mode::lossless ? 1 : 0, __ATOMIC_RELAXED);
            core.pump_reserve = margin();
            if (before == Mode::flight) {
                settle(machine_, core);
                core.flight = 0;
            }
            if (mode == Mode::flight)
                overwrite(machine_, core, false);
            else
                ring_set_limit(machine_, core);
        }
    }
    void keep_snapshot() {
        if (sending_ && !is_out()) return;
        if (sending_ && !snapshot_waits()) {
            for (Core& core : cores_) overwrite(machine_, core, true);
        }
        sending_ = snapshot_waits();
        if (!sending_) return;
        snapshots_seen_ = __atomic_load_n(&snapshots_wanted_, __ATOMIC_ACQUIRE);
        settle_all();
        for (Core& core : cores_) {
            core.send_to = core.snapshot_end = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
        }
    }

    M& machine_;
    std::span<Core> cores_;
    std::uint64_t hole_patience_ = 0;  // ticks
    std::uint64_t pace_ = 0;           // bytes a second
    std::uint32_t snapshots_wanted_ = 0;
    std::uint32_t snapshots_seen_ = 0;
    Mode mode_ = Mode::stream;
    std::uint8_t wanted_ = static_cast<std::uint8_t>(Mode::stream);  // clang: no atomics of enums
    bool sending_ = false;
    bool ending_ = false;
};

}  // namespace nopscope
