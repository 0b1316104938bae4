// SPDX-License-Identifier: Apache-2.0
// How a pump ends: with the recording, with a panic, before a reset, and with what the session before a
// reset has left.
#pragma once

#include "tracer/stream/pump.hpp"

namespace nopscope {

template <MachineConcept M>
void Pump<M>::number_frames_from(std::uint32_t sequence) {
    hello_sequence_ = console_sequence_ = reply_sequence_ = moved_sequence_ = sequence;
    for (Core& core : cores_) {
        core.trace_sequence = core.stats_sequence = sequence;
        core.profile_sequence = core.profile_events_sequence = sequence;
    }
}

template <MachineConcept M>
void Pump<M>::send_recovered(const Config& config, wire::Hello& hello, Kept& kept) {
    const bool flight = hello.flight, lossless = hello.lossless;
    hello.recovered = true;
    hello.flight = kept.flight != 0;
    hello.lossless = kept.lossless != 0;
    hello.sequences_from = static_cast<std::uint32_t>(kept.sequence_limit);
    for (Core& core : cores_.first(config.cores)) core.last_sync = core.seen_clock = machine_.clock();
    open_line(config, hello, static_cast<std::uint16_t>(kept.session), nullptr, Mode::stream);
    keeper_.open_recovered(kept);
    number_frames_from(hello.sequences_from);
    console_dropped_ = kept.console_dropped;
    end_cut_frame();
    finish(0);
    hello.recovered = false;
    hello.sequences_from = 0;
    hello.flight = flight;
    hello.lossless = lossless;
}

template <MachineConcept M>
void Pump<M>::prepare_reset() {
    const bool locked = lock();
    keeper_.keep_all(cores_, state());
    if (locked) unlock();
}

template <MachineConcept M>
void Pump<M>::finish(std::uint64_t patience) {
    if (!lock()) return;
    if (profile_ != nullptr) profile_->request();
    if (moved_ != nullptr) moved_->request();
    modes_.end(patience);
    for (bool counted = false; !counted;) {
        send_all();
        const std::uint64_t interrupts = machine_.mask_interrupts();
        counted = true;
        for (const Core& core : cores_) counted &= TraceSender<M>::waiting_records(core) == 0;
        for (Core& core : cores_) {
            if (!counted) break;
            queue_stats(core, true);
            while (!line_.send()) {
            }
        }
        machine_.restore_interrupts(interrupts);
    }
    line_.drain();
    unlock();
}

template <MachineConcept M>
void Pump<M>::enter_panic() {
    panicking_ = true;
    locked_ = console_locked_ = 0;
    for (Core& core : cores_) {
        core.context_lock = 0;
        trace_.restart(number_of(core));
    }
    line_.unpace();
    if (!try_lock()) return;
    // What other cores are just storing arrives; what was interrupted here never does.
    const std::uint64_t begin = machine_.clock();
    while (machine_.clock() - begin < clock_hz_ / 1000) {
    }
    modes_.end(0);
    for (bool more = true; more;) {
        send_all();
        more = false;
        for (Core& core : cores_) more |= modes_.skip_hole(core);
    }
    keeper_.keep_all(cores_, state());
    line_.drain();
    unlock();
}

}  // namespace nopscope
