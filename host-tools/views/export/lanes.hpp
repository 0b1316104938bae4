// SPDX-License-Identifier: Apache-2.0
// Which switches of contexts a format has: all, if the target names its tasks. Without names a core
// has none before it changes contexts, since it may have only one. A task that has ended runs once
// more when the firmware destroys it, and its last calls end.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/calls/event_sink.hpp"

namespace nopscope::host {

// A state of a task in the words of Linux.
enum class TaskState : std::uint8_t { runnable, sleeping, stopped, dead };
// What a format has for it. `values`: by TaskState.
template <typename Value>
Value value_of(TaskState state, const Value (&values)[4]) {
    return values[static_cast<std::size_t>(state)];
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
// Adds a core's task, and a switch of tasks, as Linux writes them.
template <typename Event>
Event& add_task(Event& event, const std::optional<Track>& task, std::uint32_t core) {
    event.text(task ? kernel_name(*task) : fmt::format("swapper/{}", core));
    event.add(thread_number(task));
    event.add(priority(task));
    return event;
}
template <typename Event, typename State>
void add_switch(Event& event, const CoreSwitch& to, State left) {
    add_task(event, to.from, to.core).add(left);
    add_task(event, to.to, to.core);
}

class Lanes {
public:
    // `goes_back`: the format takes an event that is older than the one before.
    explicit Lanes(bool goes_back = false) : goes_back_(goes_back) {}

    // Calls write(CoreSwitch, TaskState) for those that the format has. The state: what the task
    // that the core leaves does from now on.
    template <typename Write>
    void on_switch(const CoreSwitch& to, Write write) {
        if (to.core >= lanes_.size()) lanes_.resize(to.core + 1);
        Lane& lane = lanes_[to.core];
        const bool is_of_task = (to.to ? to.to : to.from)->task != nullptr;
        if (!lane.is_shown && !is_of_task && !(to.from && to.to)) {
            lane.since = to.at;
            return;
        }
        if (goes_back_ && !lane.is_shown && to.from) {
            write({.core = to.core, .from = {}, .to = to.from, .at = lane.since},
                  TaskState::runnable);
        }
        lane.is_shown = true;
        write(to, state_after(to));
    }
    void on_ready(const Track& task) { ended_.erase(task.number); }
    bool has_ended(const Track& task) const { return ended_.contains(task.number); }

private:
    TaskState state_after(const CoreSwitch& to) {
        if (!to.from) return TaskState::runnable;
        if (to.how == protocol::Left::ended) ended_.insert(to.from->number);
        if (has_ended(*to.from)) return TaskState::dead;
        if (!to.to) return TaskState::stopped;  // for the recording
        if (to.from->task != nullptr && to.from->task->runs_interrupts)
            return TaskState::sleeping;  // until the next interrupt
        return to.how == protocol::Left::blocked ? TaskState::sleeping : TaskState::runnable;
    }

    struct Lane {
        bool is_shown = false;
        Nanoseconds since = 0;  // before it is shown: when the core began to run its context
    };
    bool goes_back_;
    std::vector<Lane> lanes_;
    std::unordered_set<std::uint32_t> ended_;  // tracks
};

}  // namespace nopscope::host
