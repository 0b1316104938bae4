// SPDX-License-Identifier: Apache-2.0
// The names of tracks in a recording whose target names its tasks:
//
//   "worker"           the task has this name, and no other task of the recording has it
//   "worker 7"         several have: its context's number follows
//   "idle (core 1)"    the same for the own contexts of several cores
//   "context 7"        a task without a name
//   "core 1"           a core's own context without a name
//   "core 1, unknown"  several contexts ran, and no record says which
//
// A context's number may be another task after a reset. It is then another track.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "host-tools/calls/event_sink.hpp"
#include "host-tools/calls/tasks.hpp"

namespace nopscope::host {

class TaskLabels {
public:
    explicit TaskLabels(Tasks tasks);

    // False: the target names no task.
    bool any() const { return !names_.empty(); }
    // Stays where it is. Two sessions have the same one if its context has the same name in both.
    const TaskOfTrack& of(std::uint64_t session, unsigned core, std::uint32_t context);

private:
    struct Task {
        std::string name;
        std::uint32_t context = 0;
        unsigned core = 0;  // of a core's own context, or of several contexts

        auto operator<=>(const Task&) const = default;
    };
    static Task task(std::string name, unsigned core, std::uint32_t context);
    std::string label_of(const Task& task) const;

    Tasks tasks_;
    std::map<std::string, std::set<Task>> names_;
    std::map<Task, TaskOfTrack> made_;
};

}  // namespace nopscope::host
