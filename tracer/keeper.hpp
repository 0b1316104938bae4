// SPDX-License-Identifier: Apache-2.0
// Keeps the header of warm_reset.hpp up to date, and it and the rings in memory: the pump's, each time
// that it ends. At boot the opposite: what is there is made what the pump would have gone on with.
#pragma once

#include "tracer/modes.hpp"
#include "tracer/warm_reset.hpp"

#include <span>

namespace nopscope {

// Where the pump's own streams are.
struct PumpState {
    std::uint16_t session;
    std::uint32_t hello_sequence;
    std::uint32_t console_sequence;
    bool flight;
    bool lossless;
};

template <MachineConcept M>
class Keeper {
public:
    constexpr explicit Keeper(M& machine) : machine_(machine) {}

    // Null: nothing is kept.
    void open(Kept* kept, std::uint64_t clock_hz) {
        kept_ = kept;
        period_ticks_ = clock_hz / 100;
    }

    // It has more to do than two records are worth: some 30 instructions for 8 records.
    bool lags(std::span<const Core> cores) const {
        for (const Core& core : cores) {
            const std::uint64_t cursor = __atomic_load_n(&core.cursor, __ATOMIC_RELAXED);
            if (kept_ != nullptr && cursor - core.cleaned >= 64 * record_bytes) return true;
        }
        return false;
    }

    // A piece of the rings each time; the header when it is out of date.
    void keep(std::span<Core> cores, const PumpState& state) {
        if (kept_ == nullptr) return;
        constexpr std::uint64_t piece_bytes = 4096;
        bool moved = state.hello_sequence != kept_->hello_sequence ||
                     state.console_sequence != kept_->console_sequence;
        for (std::size_t n = 0; n < cores.size(); ++n) {
            clean_ring(machine_, cores[n], piece_bytes);
            moved |= cores[n].trace_sequence != kept_->core[n].trace_sequence ||
                     cores[n].stats_sequence != kept_->core[n].stats_sequence;
        }
        if (moved || machine_.clock() - kept_->now >= period_ticks_) write_header(cores, state);
    }
    void keep_all(std::span<Core> cores, const PumpState& state) {
        if (kept_ == nullptr) return;
        for (Core& core : cores) clean_ring(machine_, core, ~std::uint64_t{0});
        write_header(cores, state);
    }

private:
    void write_header(std::span<Core> cores, const PumpState& state) {
        kept_->crc = ~std::uint64_t{0};  // until it is whole
        kept_->session = state.session;
        kept_->flight = state.flight;
        kept_->lossless = state.lossless;
        kept_->now = machine_.clock();
        kept_->hello_sequence = state.hello_sequence;
        kept_->console_sequence = state.console_sequence;
        for (std::size_t n = 0; n < cores.size(); ++n) keep_core(kept_->core[n], cores[n]);
        kept_->crc = crc_of(*kept_);
        clean_to_poc(machine_, reinterpret_cast<std::uintptr_t>(kept_), sizeof *kept_);
        machine_.data_barrier();
    }

    M& machine_;
    Kept* kept_ = nullptr;
    std::uint64_t period_ticks_ = 0;
};

}  // namespace nopscope
