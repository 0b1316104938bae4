// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/tasks.hpp"

#include <iterator>
#include <type_traits>

#include "host-tools/calls/prices.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

std::string text_of(const protocol::TaskName& name) {
    return {reinterpret_cast<const char*>(name.bytes), name.size};
}

ContextFacts facts_of(const protocol::TaskFacts& told) {
    return {.name = text_of(told.name),
            .priority = told.priority,
            .id = told.id,
            .stack_low = told.stack_low,
            .stack_bytes = told.stack_bytes,
            .stack_used = told.stack_used,
            .runs_interrupts = (told.flags & protocol::runs_interrupts) != 0,
            .has_ended = (told.flags & protocol::has_ended) != 0};
}

// Context 0 that has not run yet: which core's it is, is not known.
bool has_place(const protocol::TaskFacts& told) {
    return told.number != protocol::several_contexts && (told.number != 0 || told.core != 0);
}

}  // namespace

// Null: there is no room for a new entry.
template <typename Entries>
typename Entries::mapped_type* Tasks::entry(Entries& entries, const typename Entries::key_type& key,
                                            MemoryBudget& budget) {
    const auto known = entries.find(key);
    if (known != entries.end()) return &known->second;
    if (entries.size() < max_entries && budget.take(price::task)) return &entries[key];
    ++left_out_;
    return nullptr;
}

bool Tasks::on_frame(std::uint64_t session, const std::uint8_t* payload, std::size_t count,
                     MemoryBudget& budget) {
    if (!protocol::read_tasks(payload, count, [](const auto&) {})) return false;
    return protocol::read_tasks(payload, count, [&](const auto& told) {
        if constexpr (std::is_same_v<std::decay_t<decltype(told)>, protocol::TaskFacts>) {
            if (!has_place(told)) return;
            TaskOfTarget* const task =
                entry(tasks_, key(session, told.core - 1, told.number), budget);
            if (task != nullptr) task->facts = facts_of(told);
        } else {
            ObjectOfTarget* const object = entry(objects_, {session, told.id}, budget);
            if (object != nullptr) object->name = text_of(told.name);
        }
    });
}

void Tasks::on_left(std::uint64_t session, unsigned core, std::uint32_t context, protocol::Left how,
                    MemoryBudget& budget) {
    if (context == protocol::several_contexts) return;
    LeftCounts* const counts = entry(left_, {session, context, core}, budget);
    if (counts == nullptr) return;
    const auto number = static_cast<std::size_t>(how);
    ++(*counts)[number < counts->size() ? number : 0];
}

void Tasks::on_record(std::uint64_t session, unsigned core, protocol::TaskFact fact,
                      std::uint64_t data, MemoryBudget& budget) {
    if (fact == protocol::TaskFact::ready) {
        if (data >= protocol::several_contexts) return;
        const auto context = static_cast<std::uint32_t>(data);
        TaskOfTarget* const task = entry(tasks_, key(session, core, context), budget);
        if (task != nullptr) ++task->ready;
        return;
    }
    std::uint64_t ObjectOfTarget::*const count =
        fact == protocol::TaskFact::takes   ? &ObjectOfTarget::takes
        : fact == protocol::TaskFact::gives ? &ObjectOfTarget::gives
        : fact == protocol::TaskFact::waits ? &ObjectOfTarget::waits
                                            : nullptr;
    if (count == nullptr) return;
    ObjectOfTarget* const object = entry(objects_, {session, data}, budget);
    if (object != nullptr) ++(object->*count);
}

void Tasks::zero(MemoryBudget& budget) {
    for (auto at = tasks_.begin(); at != tasks_.end();) {
        at->second.ready = 0;
        const bool stays = at->second.facts && budget.take(price::task);
        at = stays ? std::next(at) : tasks_.erase(at);
    }
    for (auto at = objects_.begin(); at != objects_.end();) {
        ObjectOfTarget& object = at->second;
        object.takes = object.gives = object.waits = 0;
        const bool stays = object.name && budget.take(price::task);
        at = stays ? std::next(at) : objects_.erase(at);
    }
    left_.clear();
    left_out_ = 0;
}

const TaskOfTarget* Tasks::find(std::uint64_t session, unsigned core, std::uint32_t context) const {
    const auto found = tasks_.find(key(session, core, context));
    return found != tasks_.end() ? &found->second : nullptr;
}

std::string_view Tasks::name(std::uint64_t session, unsigned core, std::uint32_t context) const {
    const TaskOfTarget* const told = find(session, core, context);
    return told != nullptr && told->facts ? std::string_view(told->facts->name)
                                          : std::string_view();
}

std::string Tasks::label(std::uint64_t session, unsigned core, std::uint32_t context) const {
    const std::string_view its_name = name(session, core, context);
    if (!its_name.empty()) return std::string(its_name);
    if (context == protocol::several_contexts) return "(unknown task)";
    return context == 0 ? "(core " + std::to_string(core) + ")"
                        : "context " + std::to_string(context);
}

bool Tasks::is_named(std::string_view glob, std::uint64_t session, unsigned core,
                     std::uint32_t context) const {
    const std::string_view its_name = name(session, core, context);
    return glob_matches(glob, std::to_string(context)) ||
           (!its_name.empty() && glob_matches(glob, its_name));
}

std::vector<std::string> Tasks::names() const {
    std::vector<std::string> result;
    for (const auto& [key, task] : tasks_) {
        if (task.facts && !task.facts->name.empty()) result.push_back(task.facts->name);
    }
    return result;
}

const LeftCounts* Tasks::left(std::uint64_t session, unsigned core, std::uint32_t context) const {
    const auto found = left_.find({session, context, core});
    return found != left_.end() ? &found->second : nullptr;
}

}  // namespace nopscope::host
