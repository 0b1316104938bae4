// SPDX-License-Identifier: Apache-2.0
// Which task each core runs, and contexts that move from one core to another.
#include <algorithm>
#include <memory>
#include <utility>

#include "host-tools/analysis/events/balanced_stream.hpp"

namespace nopscope::host {

void BalancedStream::tell_switch(const Core& core, const Context* from, const Context* to,
                                 Nanoseconds at, protocol::Left how) {
    CoreSwitch told{.core = core.number, .from = {}, .to = {}, .at = at, .how = how};
    if (from != nullptr && from->introduced) told.from = from->track;
    if (to != nullptr && to->introduced) told.to = to->track;
    to_->on_switch(told);
}

void BalancedStream::begin_running(Core& core, Nanoseconds at) {
    core.is_running = true;
    tell_switch(core, nullptr, core.current, at);
}

void BalancedStream::end_running(Core& core) {
    if (std::exchange(core.is_running, false)) tell_switch(core, core.current, nullptr, core.now);
    core.attends = true;
}

void BalancedStream::settle(Core& core) {
    const Waiting waiting = std::exchange(core.waiting, {});
    if (waiting.from == nullptr) return;
    tell_switch(core, waiting.from, waiting.to, waiting.at, waiting.how);
    if (waiting.ends_away) to_->leave(waiting.to->track, away_function, waiting.at, Left::returned);
}

// A record of a move, with its data, may stand between the `context` record and the record that
// says how the core left.
void BalancedStream::attend(Core& core, const protocol::StampedRecord& next) {
    const protocol::Record record = next.record;
    if (core.waiting.from != nullptr && record.kind() == protocol::Kind::extended) {
        if (record.is(protocol::Extended::data)) return;
        if (record.is(protocol::Extended::task)) {
            const protocol::TaskFact fact = protocol::task_fact(record.argument());
            if (fact == protocol::TaskFact::moved) return;
            if (fact == protocol::TaskFact::left)
                core.waiting.how = protocol::how_left(record.argument());
        }
    }
    settle(core);
    if (!core.is_running) begin_running(core, std::max(core.now, time_(next.clock - core.cut)));
    if (core.unwinding) end_unwinding(core, next);
    core.attends = core.unwinding;
}

void BalancedStream::on_task(Core& core) {
    if (protocol::task_fact(core.with_data.head().argument) != protocol::TaskFact::ready) return;
    const std::uint64_t number = core.with_data.data()[0];
    if (number >= protocol::several_contexts) return;
    Context* const task = ready_context(core, static_cast<std::uint32_t>(number));
    if (task == nullptr) return;
    introduce(core, *task);
    if (task->introduced) to_->on_ready(core.current->track, task->track, core.now);
}

// The task may not have run yet. Then it counts as this core's until it runs.
BalancedStream::Context* BalancedStream::ready_context(Core& core, std::uint32_t number) {
    if (number == 0) return core.contexts.front().get();
    if (const auto at = core_of_.find(number); at != core_of_.end()) {
        const auto& there = at->second->by_number;
        const auto one = there.find(number);
        if (one != there.end() && one->second->session == sessions_) return one->second;
    }
    Context& task = context(core, number, false);
    if (task.track.context != number) return nullptr;
    task.session = sessions_;
    core_of_[number] = &core;
    return &task;
}

const TaskOfTrack* BalancedStream::task_of(const Core& core, std::uint32_t context) const {
    if (tasks_ == nullptr || sessions_ == 0) return nullptr;
    return &tasks_->of(sessions_ - 1, core.number, context);
}

// Numbers that are other tasks than in the session before get new tracks.
void BalancedStream::forget_other_tasks(Core& core) {
    if (tasks_ == nullptr) return;
    std::erase_if(core.by_number, [&](const auto& one) {
        return one.second->track.task != task_of(core, one.first);
    });
    if (core.by_number.contains(0)) return;
    Context& own = context(core, 0);
    const auto at = std::ranges::find(core.contexts, &own, &std::unique_ptr<Context>::get);
    std::rotate(core.contexts.begin(), at, std::next(at));
}

// Null: no other core ran it in this session. Without a record of the switch, a context that still
// seems to run there may do so: that core's records may come late.
BalancedStream::Context* BalancedStream::moved_context(Core& core, std::uint32_t number,
                                                       bool is_certain) {
    if (number == 0 || number == protocol::several_contexts) return nullptr;
    const auto known = core_of_.find(number);
    if (known == core_of_.end() || known->second == &core) return nullptr;
    Core& other = *known->second;
    const auto one = other.by_number.find(number);
    if (one == other.by_number.end() || one->second->session != sessions_) return nullptr;
    Context& moved = *one->second;
    if (&moved == other.current &&
        (!is_certain || &context(other, protocol::several_contexts) == &moved))
        return nullptr;
    move(other, core, moved);
    return &moved;
}

void BalancedStream::move(Core& from, Core& to, Context& moved) {
    turn_to(to);
    settle(to);
    turn_to(from);
    settle(from);
    // The core's record of its next context may come later. Until then it runs an unknown one.
    if (&moved == from.current) {
        enter(from, context(from, protocol::several_contexts), from.now);
        settle(from);
    }
    const bool hides = !from.is_ahead() && !to.is_shown;
    if (hides && to.is_over) {
        moved.last = from.now;
        hide_open_calls(moved);
    }
    const auto one = std::ranges::find(from.contexts, &moved, &std::unique_ptr<Context>::get);
    to.contexts.push_back(std::move(*one));
    from.by_number.erase(moved.track.context);
    to.by_number.emplace(moved.track.context, &moved);
    from.contexts.erase(one);
    moved.track.core = to.number;
    if (hides && to.is_ahead()) {  // the move came before the part: the calls enter again in it
        announce(*to.contexts.front());
        hide_open_calls(moved);
    }
    core_of_[moved.track.context] = &to;
    moved.has_moved |= moved.stack.size() > 1;
    to.now = std::max(to.now, moved.last);
    turn_to(to);
    introduce(to, *to.contexts.front());  // a format may prepare a core at its first track
    if (to.is_shown && from.is_ahead()) show_open_calls(to, moved);
}

}  // namespace nopscope::host
