// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/scheduling.hpp"

#include <algorithm>
#include <utility>

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

void Scheduling::add(unsigned core, std::uint64_t clock, Kind kind, std::uint64_t data,
                     MemoryBudget& budget) {
    if (pending_.size() == most_pending) take(most_pending / 2, budget);
    pending_.push_back({clock, data, kind, static_cast<std::uint8_t>(core)});
}

// Takes the first `count` pending events by their clocks; those of a core stay in order.
void Scheduling::take(std::size_t count, MemoryBudget& budget) {
    if (count == 0) return;
    const std::uint64_t first = pending_.front().clock;  // clocks may wrap
    std::stable_sort(pending_.begin(), pending_.end(), [first](const Event& a, const Event& b) {
        return static_cast<std::int64_t>(a.clock - first) <
               static_cast<std::int64_t>(b.clock - first);
    });
    const auto end = pending_.begin() + static_cast<long>(count);
    for (auto event = pending_.begin(); event != end; ++event) take(*event, budget);
    pending_.erase(pending_.begin(), end);
}

void Scheduling::take(const Event& event, MemoryBudget& budget) {
    Core& core = cores_[event.core];
    switch (event.kind) {
    case Kind::run:
        if (event.data == protocol::several_contexts) ++gaps_;
        return begin_running(core, event.core, key_of(event.core, event.data), event.clock, budget);
    case Kind::begin:
        core.runs = key_of(event.core, event.data);
        core.since = event.clock;
        if (Task* const task = task_now(core.runs, budget)) set(*task, State::runs, event.clock);
        return;
    case Kind::left: {
        const auto found = tasks_now_.find(std::exchange(core.left, none));
        if (found == tasks_now_.end() || found->second.state != State::unknown) return;
        switch (static_cast<protocol::Left>(event.data)) {
        case protocol::Left::preempted:
        case protocol::Left::gave_way: found->second.state = State::ready; return;
        case protocol::Left::blocked: found->second.state = State::blocked; return;
        default: return;
        }
    }
    case Kind::ready: {
        if (event.data >= protocol::several_contexts) return;
        Task* const task = task_now(key_of(event.core, event.data), budget);
        if (task == nullptr || task->state == State::runs || task->state == State::ready) return;
        if (task->state == State::blocked) end_blocked(*task, event.clock);
        return set(*task, State::ready, event.clock);
    }
    case Kind::waits: {
        const auto found = tasks_now_.find(core.runs);
        if (found == tasks_now_.end()) return;
        Task& task = found->second;
        task.object = event.data;
        auto& objects = task.waits.objects;
        const bool has_room = objects.contains(event.data) ||
                              (objects.size() < max_objects && budget.take(price::waits_of_object));
        ++(has_room ? objects[event.data].waits : left_out_);
        return;
    }
    case Kind::gap:
        ++gaps_;
        core.runs = core.left = none;
        return;
    }
}

void Scheduling::begin_running(Core& core, unsigned number, std::uint64_t key, std::uint64_t clock,
                               MemoryBudget& budget) {
    if (core.runs == key) return;  // the late record of a switch that a return has shown
    if (const auto left = tasks_now_.find(core.runs); left != tasks_now_.end()) {
        set(left->second, State::unknown, clock);
        const Ran ran{core.runs, core.since, clock};
        if (core.history.size() < history_size) {
            core.history.push_back(ran);
        } else {
            core.history[core.oldest] = ran;
            core.oldest = (core.oldest + 1) % history_size;
        }
    }
    core.left = std::exchange(core.runs, key);
    core.since = clock;
    Task* const task = task_now(key, budget);
    if (task == nullptr) return;
    if (task->state == State::ready) end_wait(*task, core, number, clock);
    if (task->state == State::blocked) end_blocked(*task, clock);
    ++task->waits.runs;
    task->object = none;
    set(*task, State::runs, clock);
}

// Null: outside data names more tasks than there is room for.
Scheduling::Task* Scheduling::task_now(std::uint64_t key, MemoryBudget& budget) {
    const auto found = tasks_now_.find(key);
    if (found != tasks_now_.end()) return &found->second;
    if (tasks_now_.size() < Tasks::max_entries && budget.take(price::task)) return &tasks_now_[key];
    ++left_out_;
    return nullptr;
}

void Scheduling::set(Task& task, State state, std::uint64_t clock) {
    task.state = state;
    task.since = clock;
    task.gaps = gaps_;
}

void Scheduling::end_wait(Task& task, const Core& core, unsigned number, std::uint64_t clock) {
    if (task.gaps != gaps_) return;
    const Ticks ticks = not_negative(clock - task.since);
    TaskWaits& waits = task.waits;
    waits.ready_ticks += ticks;
    if (ticks <= waits.longest) return;
    waits.longest = ticks;
    waits.longest_core = number;
    task.longest_clock = clock;
    task.behind = longest_since(core, task.since);
}

void Scheduling::end_blocked(Task& task, std::uint64_t clock) {
    if (task.gaps != gaps_) return;
    const Ticks ticks = not_negative(clock - task.since);
    task.waits.blocked_ticks += ticks;
    const auto object = task.waits.objects.find(task.object);
    if (object != task.waits.objects.end()) object->second.ticks += ticks;
}

// The task that ran longest on the core since then, up to now; `none`: none did.
std::uint64_t Scheduling::longest_since(const Core& core, std::uint64_t clock) const {
    std::map<std::uint64_t, Ticks> ran;
    for (const Ran& one : core.history) {
        const Ticks inside = not_negative(one.to - clock);
        if (inside != 0) ran[one.key] += std::min(inside, not_negative(one.to - one.from));
    }
    std::uint64_t longest = none;
    for (const auto& [key, ticks] : ran) {
        if (longest == none || ticks > ran[longest]) longest = key;
    }
    return longest;
}

Tasks::Key Scheduling::task_of(std::uint64_t session, std::uint64_t key) {
    const bool is_own = (key & 1) != 0;
    const auto number = static_cast<std::uint32_t>(key >> 1);
    return is_own ? Tasks::Key{session, 0, number} : Tasks::Key{session, number, 0};
}

std::uint64_t Scheduling::price_of(const TaskWaits& waits) {
    return price::task + waits.objects.size() * price::waits_of_object;
}

void Scheduling::begin_anew() {
    pending_.clear();
    tasks_now_.clear();
    for (Core& core : cores_) core = {};
    gaps_ = 0;
}

}  // namespace nopscope::host
