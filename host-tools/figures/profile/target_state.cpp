// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/target_state.hpp"

#include <algorithm>

#include "tracer/protocol/profile.hpp"

namespace nopscope::host {

void TargetState::on_stats(unsigned number, const protocol::Stats& stats) {
    if (!stats.has_state) return;
    cores_[number].last = stats;
    const bool is_new = told_.empty() || told_.back().mode != stats.mode ||
                        told_.back().recorders != stats.recorders;
    if (is_new && told_.size() < max_changes) told_.push_back(stats);
}

void TargetState::on_profile(unsigned number, const std::uint8_t* payload, std::size_t count) {
    const protocol::ProfileReader reader(payload, count);
    if (!reader.ok() || !reader.header().last) return;
    cores_[number].read_clock = reader.header().now;
}

void TargetState::zero() {
    recursions_ = 0;
    for (auto& [number, core] : cores_) core.at_zero = core.last.recursions;
}

void TargetState::on_session_end(std::optional<std::uint64_t> first, std::uint64_t session) {
    const auto since = [&](std::uint64_t clock) {
        return first && clock > *first ? clock - *first : std::uint64_t{0};
    };
    for (std::size_t i = 0; i < told_.size() && changes_.size() < max_changes; ++i) {
        // Before the first record only the last change counts.
        if (i + 1 < told_.size() && since(told_[i + 1].since) == 0) continue;
        changes_.push_back({.ticks = since(told_[i].since),
                            .mode = told_[i].mode,
                            .recorders = told_[i].recorders,
                            .session = session});
    }
    told_.clear();
    if (cores_.empty()) return;
    stopped_.reset();
    ProfileReading reading{.kept = false, .ticks = std::nullopt, .session = session};
    for (const auto& [number, core] : cores_) {
        known_ |= core.last.has_state;
        recursions_ += core.last.recursions - std::min(core.last.recursions, core.at_zero);
        reading.kept |= core.last.profile != 0 || core.read_clock;
        if (core.read_clock)
            reading.ticks = std::max(reading.ticks.value_or(0), since(*core.read_clock));
        if (core.last.stopped_at != 0 && core.last.final == 0)
            stopped_ = since(core.last.stopped_at);
    }
    if (reading.kept) reading_ = reading;
    cores_.clear();
}

}  // namespace nopscope::host
