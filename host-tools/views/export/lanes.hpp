// SPDX-License-Identifier: Apache-2.0
// Which switches of contexts a format has: all, if the target names its tasks. Without names a core
// has none before it changes contexts, since it may have only one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {

// A state of a task in the words of Linux.
enum class TaskState : std::uint8_t { runnable, sleeping, stopped, dead };

// What the task that the core leaves does from now on.
inline TaskState state_after(const CoreSwitch& to) {
    if (!to.to) return TaskState::stopped;  // for the recording
    if (to.from && to.from->task != nullptr && to.from->task->runs_interrupts)
        return TaskState::sleeping;  // until the next interrupt
    switch (to.how) {
    case protocol::Left::blocked: return TaskState::sleeping;
    case protocol::Left::ended: return TaskState::dead;
    default: return TaskState::runnable;
    }
}

// 0 is the idle task of Linux: it stands for nothing that is known.
inline std::uint32_t thread_number(const std::optional<Track>& track) {
    return track ? track->number + 1 : 0;
}
inline std::int32_t priority(const std::optional<Track>& track) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    return track && track->task != nullptr
               ? static_cast<std::int32_t>(std::min(track->task->priority, most))
               : 0;
}
// A task's name in the formats of Linux: for_cell()'s spelling, "core0/7" without a name.
inline std::string kernel_name(const Track& track) {
    return track.task != nullptr ? for_cell(track.task->label)
                                 : fmt::format("core{}/{}", track.core, track.context);
}
inline std::string kernel_name(const std::optional<Track>& track, std::uint32_t core) {
    return track ? kernel_name(*track) : fmt::format("swapper/{}", core);
}

class Lanes {
public:
    // Calls write(CoreSwitch) for those that the format has.
    template <typename Write>
    void on_switch(const CoreSwitch& to, Write write) {
        if (to.core >= lanes_.size()) lanes_.resize(to.core + 1);
        Lane& lane = lanes_[to.core];
        const bool is_of_task = (to.to ? to.to : to.from)->task != nullptr;
        if (!lane.is_shown && !is_of_task && !(to.from && to.to)) {
            lane.since = to.at;
            return;
        }
        if (!lane.is_shown && to.from)
            write(CoreSwitch{.core = to.core, .from = {}, .to = to.from, .at = lane.since});
        lane.is_shown = true;
        write(to);
    }

private:
    struct Lane {
        bool is_shown = false;
        Nanoseconds since = 0;  // before it is shown: when the core began to run its context
    };
    std::vector<Lane> lanes_;
};

}  // namespace nopscope::host
