// SPDX-License-Identifier: Apache-2.0
// What a pump sends next: the frames of a session, in turn.
#pragma once

#include "tracer/stream/pump.hpp"

namespace nopscope {

template <MachineConcept M>
bool Pump<M>::advance(Until until) {
    if (!line_.idle()) return line_.send();
    keep_modes();
    if (replies_wait()) {
        return queue({wire::Stream::reply, 0, session_, reply_sequence_++},
                     replies_->take(frame_.payload()));
    }
    if (until == Until::paced && replies_ != nullptr && replies_->hold()) return false;
    if (due(hello_due_)) {
        hello_due_ = machine_.clock() + clock_hz_;
        return queue({wire::Stream::hello, 0, session_, hello_sequence_++},
                     write_hello(*hello_, frame_.payload()));
    }
    if (!console_.empty()) {
        return queue({wire::Stream::console, 0, session_, console_sequence_++},
                     with_console([&] {
                         return console_.get(frame_.payload(), console_frame_bytes);
                     }));
    }
    if (moved_waits()) {
        const std::size_t bytes = moved_->next(machine_.clock(), frame_.payload());
        if (bytes != 0) return queue({wire::Stream::moved, 0, session_, moved_sequence_++}, bytes);
    }
    // One a second and core, and one after each change. They come before the records: a line that never
    // catches up would carry none.
    if (stats_wait()) {
        const std::uint64_t owed = __atomic_load_n(&stats_owed_, __ATOMIC_RELAXED);
        if (owed != 0) __atomic_store_n(&stats_owed_, owed - 1, __ATOMIC_RELAXED);
        stats_turn_ = (stats_turn_ + 1) % cores_.size();
        stats_due_ = machine_.clock() + clock_hz_ / cores_.size();
        return queue_stats(cores_[stats_turn_], false);
    }
    // The profile and the records take turns, and so do the cores.
    if ((profile_turn_ = !profile_turn_) && profile_waits()) return queue_profile();
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        Core& core = cores_[turn_ = (turn_ + 1) % cores_.size()];
        const bool wanted = until == Until::empty || (core.tail < core.seen && trace_.due(core));
        if (wanted && queue_trace(core)) return true;
    }
    if (profile_waits()) return queue_profile();
    return false;
}

template <MachineConcept M>
bool Pump<M>::queue_stats(Core& core, bool final) {
    wire::Stats stats = stats_of(core, machine_.clock(), console_dropped_, final ? 1 : 0);
    if (in_force_ != nullptr && !hello_->recovered) add_state(stats, core);
    if (replies_ != nullptr && number_of(core) == 0) stats.commands_refused = replies_->refused();
    return queue({wire::Stream::stats, number_of(core), session_, core.stats_sequence++},
                 write_stats(stats, frame_.payload()));
}

template <MachineConcept M>
void Pump<M>::add_state(wire::Stats& stats, const Core& core) const {
    stats.has_state = true;
    stats.recursions = __atomic_load_n(&core.recursions, __ATOMIC_RELAXED);
    stats.mode = static_cast<std::uint64_t>(modes_.mode());
    stats.recorders = in_force_->recorders();
    stats.since = std::max(mode_since_, in_force_->since());
    stats.stopped_at = in_force_->stopped_at();
    stats.profile = profile_ != nullptr && profile_->keeps() ? 1 + profile_->last_whole() : 0;
}

template <MachineConcept M>
bool Pump<M>::queue_profile() {
    const auto [stream, number, payload_bytes] = profile_->next(machine_.clock(), frame_.payload());
    Core& core = cores_[number];
    core.aggregated = profile_->aggregated(number);
    std::uint32_t& sequence =
        stream == wire::Stream::profile ? core.profile_sequence : core.profile_events_sequence;
    return queue({stream, static_cast<std::uint8_t>(number), session_, sequence++}, payload_bytes);
}

template <MachineConcept M>
bool Pump<M>::queue_trace(Core& core) {
    if (core.overwrites != 0) return false;
    const std::size_t payload_bytes = trace_.build(core, number_of(core), frame_.payload());
    if (payload_bytes == 0) return modes_.skip_hole(core);
    if (modes_.skip_lap(core)) {
        trace_.restart(number_of(core));
        return true;
    }
    queue({wire::Stream::trace, number_of(core), session_, core.trace_sequence++}, payload_bytes);
    trace_bytes_ += payload_bytes;
    keeper_.hold(core);
    trace_.release(core);
    return true;
}

}  // namespace nopscope
