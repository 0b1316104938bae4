// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/task_labels.hpp"

#include <fmt/format.h>

#include <utility>

namespace nopscope::host {

TaskLabels::TaskLabels(Tasks tasks) : tasks_(std::move(tasks)) {
    for (const auto& [key, told] : tasks_.contexts()) {
        if (!told.facts || told.facts->name.empty()) continue;
        names_[told.facts->name].insert(task(told.facts->name, key.core, key.context));
    }
}

TaskLabels::Task TaskLabels::task(std::string name, unsigned core, std::uint32_t context) {
    const bool is_of_core = context == 0 || context == protocol::several_contexts;
    return {.name = std::move(name), .context = context, .core = is_of_core ? core : 0};
}

std::string TaskLabels::label_of(const Task& task) const {
    if (!task.name.empty()) {
        if (names_.at(task.name).size() == 1) return task.name;
        return task.context == 0 ? fmt::format("{} (core {})", task.name, task.core)
                                 : fmt::format("{} {}", task.name, task.context);
    }
    if (task.context == protocol::several_contexts)
        return fmt::format("core {}, unknown", task.core);
    return task.context == 0 ? fmt::format("core {}", task.core)
                             : fmt::format("context {}", task.context);
}

const TaskOfTrack& TaskLabels::of(std::uint64_t session, unsigned core, std::uint32_t context) {
    const Task wanted = task(std::string(tasks_.name(session, core, context)), core, context);
    const auto [made, is_new] = made_.try_emplace(wanted);
    if (is_new) {
        made->second.label = label_of(wanted);
        const TaskOfTarget* const told = tasks_.find(session, core, context);
        if (told != nullptr && told->facts) {
            made->second.priority = told->facts->priority;
            made->second.runs_interrupts = told->facts->runs_interrupts;
        }
    }
    return made->second;
}

}  // namespace nopscope::host
