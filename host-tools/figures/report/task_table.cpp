// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/task_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/figures/report/report.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

class TableBuilder {
public:
    TableBuilder(const Report& report, const Profile& profile, const TaskTableOptions& options)
        : report_(report), profile_(profile), options_(options) {}

    TaskTable table() {
        for (const ContextRow& row : report_.contexts) add_times(row);
        for (const auto& [key, waits] : profile_.scheduling().tasks()) add_waits(key, waits);
        TaskTable table;
        std::uint64_t all = 0;
        for (auto& [name, line] : lines_) {
            all += line.cpu_ns;
            std::stable_sort(line.waited_for.begin(), line.waited_for.end(),
                             [](const WaitedFor& a, const WaitedFor& b) {
                                 return std::pair(a.blocked_ns, a.waits) >
                                        std::pair(b.blocked_ns, b.waits);
                             });
            table.tasks.push_back(std::move(line));
        }
        for (TaskLine& line : table.tasks) {
            if (all != 0) line.share = static_cast<double>(line.cpu_ns) / static_cast<double>(all);
        }
        std::stable_sort(table.tasks.begin(), table.tasks.end(),
                         [](const TaskLine& a, const TaskLine& b) { return a.cpu_ns > b.cpu_ns; });
        std::erase_if(table.tasks,
                      [&](const TaskLine& line) { return !shown_.contains(line.name); });
        for (const auto& [core, line] : cores_) table.cores.push_back(line);
        return table;
    }

private:
    std::uint64_t ns(std::uint64_t ticks) const { return ticks_to_ns(ticks, report_.clock_hz); }
    std::string label(const Tasks::Key& key) const {
        return profile_.tasks().label(key.session, key.core, key.context);
    }
    std::string name_of(const Tasks::Key& key) const {
        if (key.context == protocol::several_contexts) return label(key);
        const bool has_name = !profile_.tasks().name(key.session, key.core, key.context).empty();
        if (!options_.each && !has_name && key.context != 0) return "(tasks without a name)";
        if (!options_.each || !has_name) return label(key);
        const std::string_view is_core = key.context == 0 ? "core " : "";
        return fmt::format("{} ({}{})", label(key), is_core,
                           key.context == 0 ? key.core : key.context);
    }
    TaskLine& line_of(const Tasks::Key& key) {
        std::string name = name_of(key);
        TaskLine& line = lines_[name];
        if (line.name.empty()) line.name = name;
        if (known_.insert(key).second) {
            ++line.tasks;
            add_facts(line, key);
            if (options_.only.empty() ||
                profile_.tasks().is_named(options_.only, key.session, key.core, key.context)) {
                shown_.insert(name);
            }
        }
        return line;
    }
    bool is_idle(const Tasks::Key& key) const {
        if (key.context == 0) return report_.has_tasks();
        const std::string name = label(key);
        return std::any_of(options_.idle.begin(), options_.idle.end(),
                           [&](const std::string& glob) { return glob_matches(glob, name); });
    }

    void add_facts(TaskLine& line, const Tasks::Key& key) {
        line.is_idle = is_idle(key);
        const TaskOfTarget* const told = profile_.tasks().find(key.session, key.core, key.context);
        if (told == nullptr || !told->facts) return;
        const ContextFacts& facts = *told->facts;
        if (line.tasks == 1) line.priority = facts.priority;
        if (line.priority != facts.priority) line.priority.reset();
        if (facts.stack_bytes == 0) return;
        const auto part = [](std::uint64_t used, std::uint64_t bytes) {
            return static_cast<double>(used) / static_cast<double>(bytes);
        };
        const bool is_fuller = line.stack_bytes == 0 || part(facts.stack_used, facts.stack_bytes) >
                                                            part(line.stack_used, line.stack_bytes);
        if (!is_fuller) return;
        line.stack_bytes = facts.stack_bytes;
        line.stack_used = facts.stack_used;
    }
    void add_times(const ContextRow& row) {
        const Tasks::Key key = Tasks::key(row.session, row.core, row.context);
        TaskLine& line = line_of(key);
        const std::uint64_t cpu = ns(row.ran_ticks - std::min(row.ran_ticks, row.tracer_ticks));
        line.cores.insert(row.core);
        line.cpu_ns += cpu;
        CoreLine& core = cores_[row.core];
        core.core = row.core;
        core.cpu_ns += cpu;
        core.tracer_ns += ns(row.tracer_ticks);
        if (is_idle(key)) core.idle_ns += cpu;
        if (!row.left) return;
        for (std::size_t how = 0; how < line.left.size(); ++how) line.left[how] += (*row.left)[how];
    }
    void add_waits(const Tasks::Key& key, const TaskWaits& waits) {
        TaskLine& line = line_of(key);
        line.runs += waits.runs;
        line.ready_ns += ns(waits.ready_ticks);
        line.blocked_ns += ns(waits.blocked_ticks);
        if (ns(waits.longest) > line.longest_ns) {
            line.longest_ns = ns(waits.longest);
            line.longest_end_ns = waits.longest_end;
            line.longest_core = waits.longest_core;
            line.behind.reset();
            if (waits.behind) line.behind = label(*waits.behind);
        }
        for (const auto& [id, of] : waits.objects) {
            const std::string name = name_of_object(key.session, id);
            const auto found = std::find_if(line.waited_for.begin(), line.waited_for.end(),
                                            [&](const WaitedFor& one) { return one.name == name; });
            WaitedFor& one =
                found != line.waited_for.end() ? *found : line.waited_for.emplace_back();
            one.name = name;
            one.waits += of.waits;
            one.blocked_ns += ns(of.ticks);
        }
    }
    std::string name_of_object(std::uint64_t session, std::uint64_t id) const {
        const auto& objects = profile_.tasks().objects();
        const auto found = objects.find({session, id});
        return found != objects.end() && found->second.name ? *found->second.name : hex_address(id);
    }

    const Report& report_;
    const Profile& profile_;
    const TaskTableOptions& options_;
    std::map<std::string, TaskLine> lines_;
    std::map<unsigned, CoreLine> cores_;
    std::set<Tasks::Key> known_;
    std::set<std::string> shown_;  // names
};

}  // namespace

void add_contexts(Report& report, const Profile& profile) {
    const Tasks& tasks = profile.tasks();
    for (const ContextTimes& times : profile.contexts()) {
        ContextRow& row = report.contexts.emplace_back();
        static_cast<ContextTimes&>(row) = times;
        const auto* const told = tasks.find(times.session, times.core, times.context);
        if (told != nullptr) {
            row.facts = told->facts;
            row.ready = told->ready;
        }
        const auto* const left = tasks.left(times.session, times.core, times.context);
        if (left != nullptr) row.left = *left;
    }
    for (const auto& [key, object] : tasks.objects()) {
        ObjectRow& row = report.objects.emplace_back();
        static_cast<ObjectOfTarget&>(row) = object;
        row.session = key.session;
        row.id = key.id;
    }
}

TaskTable task_table(const Report& report, const Profile& profile,
                     const TaskTableOptions& options) {
    return TableBuilder(report, profile, options).table();
}

}  // namespace nopscope::host
