// SPDX-License-Identifier: Apache-2.0
// Updates the header of warm_reset.hpp, and cleans it and the rings to memory, when a pump ends.
#pragma once

#include "tracer/stream/modes.hpp"
#include "tracer/stream/warm_reset.hpp"

#include <span>

namespace nopscope {

// The pump's state apart from its cores.
struct PumpState {
    std::uint16_t session;
    std::uint64_t console_dropped;
    bool flight;
    bool lossless;
    bool on_line;  // a frame has not left yet
};

template <MachineConcept M>
class WarmResetWriter {
public:
    constexpr explicit WarmResetWriter(M& machine) : machine_(machine) {}

    // Begins to keep a new session. Null: keeps nothing.
    void open(WarmResetHeader* kept, std::uint64_t clock_hz) {
        kept_ = kept;
        period_ticks_ = clock_hz / 100;
        limit_ = 0;
        recovers_ = false;
    }
    // Begins to send the session that `kept` holds: only the limit in it changes, until open().
    void open_recovered(WarmResetHeader& kept) {
        kept_ = &kept;
        limit_ = kept.sequence_limit;
        recovers_ = true;
    }

    // Call before the first byte of a frame with this number: raises the limit if it is needed.
    void cover(std::uint32_t sequence, std::span<const Core> cores, const PumpState& state) {
        sent_ = true;
        held_ = nullptr;
        if (kept_ == nullptr || sequence < limit_) return;
        limit_ = std::uint64_t{sequence} + numbers_ahead;
        if (recovers_) {
            write([] {});
        } else {
            write_header(cores, state);
        }
    }

    // Call before the frame's records are taken off the ring. Until the frame has left, headers
    // contain the tail before it: if a reset cuts the frame, the next boot sends it again.
    void hold(const Core& core) {
        held_ = &core;
        keep_tail(held_tail_, core);
    }

    // True if so much is to be cleaned that it is worth a tracer_begin and a tracer_end record. To
    // clean 8 records takes about 30 instructions.
    bool lags(std::span<const Core> cores) const {
        for (const Core& core : cores) {
            const std::uint64_t cursor = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
            if (kept_ != nullptr && cursor - core.cleaned >= 64 * record_bytes) return true;
        }
        return false;
    }

    // Cleans a piece of each ring. Writes the header if it is out of date.
    void keep(std::span<Core> cores, const PumpState& state) {
        if (kept_ == nullptr || recovers_) return;
        constexpr std::uint64_t piece_bytes = 4096;
        for (Core& core : cores) clean_ring(machine_, core, piece_bytes);
        if (sent_ || machine_.clock() - kept_->now >= period_ticks_) write_header(cores, state);
    }
    void keep_all(std::span<Core> cores, const PumpState& state) {
        if (kept_ == nullptr || recovers_) return;
        for (Core& core : cores) clean_ring(machine_, core, ~std::uint64_t{0});
        write_header(cores, state);
    }

private:
    // How many frames a stream can send before cover() must write a header. Usually keep() writes
    // one earlier, after each pump that has sent a frame.
    static constexpr std::uint64_t numbers_ahead = 4096;

    void write_header(std::span<const Core> cores, const PumpState& state) {
        write([&] {
            kept_->session = state.session;
            kept_->flight = state.flight;
            kept_->lossless = state.lossless;
            kept_->now = machine_.clock();
            kept_->console_dropped = state.console_dropped;
            for (std::size_t n = 0; n < cores.size(); ++n) {
                keep_core(kept_->core[n], cores[n]);
                if (state.on_line && held_ == &cores[n]) kept_->core[n].tail = held_tail_;
            }
        });
        sent_ = false;
    }
    template <typename Fill>
    void write(Fill fill) {
        kept_->crc = ~std::uint64_t{0};  // invalid until it is complete
        fill();
        kept_->sequence_limit = limit_;
        kept_->crc = crc_of(*kept_);
        clean_header(machine_, *kept_);
    }

    M& machine_;
    WarmResetHeader* kept_ = nullptr;
    std::uint64_t period_ticks_ = 0;
    std::uint64_t limit_ = 0;     // WarmResetHeader::sequence_limit
    const Core* held_ = nullptr;  // the core of the last frame's records; null: it has none
    WarmResetTail held_tail_{};   // its tail before these records
    bool recovers_ = false;
    bool sent_ = false;  // a frame, since the last header
};

}  // namespace nopscope
