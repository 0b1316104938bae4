// SPDX-License-Identifier: Apache-2.0
// Contexts, with what the target told of them, and what `nopscope tasks` makes of them: where the
// time of the cores went, by task, and what tasks waited for. Times are on the axis of the report's
// times; a task's CPU time is without the tracer's.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host-tools/figures/profile/profile.hpp"

namespace nopscope::host {

struct Report;

// A context of a core in one session, with what the target told of it.
struct ContextRow : ContextTimes {
    std::optional<ContextFacts> facts;
    std::optional<LeftCounts> left;  // nothing: no record tells how the core left it
    std::uint64_t ready = 0;         // on all cores
};
struct ObjectRow : ObjectOfTarget {
    std::uint64_t session = 0;
    std::uint64_t id = 0;
};

struct WaitedFor {
    std::string name;  // outside text, or its id
    std::uint64_t waits = 0;
    std::uint64_t blocked_ns = 0;
};

// A task, or all tasks of one name.
struct TaskLine {
    std::string name;         // Tasks::label(): outside text
    std::uint64_t tasks = 0;  // of this name, in all sessions
    std::set<unsigned> cores;
    std::optional<std::uint64_t> priority;  // nothing: not told, or several
    bool is_idle = false;
    std::uint64_t cpu_ns = 0;
    double share = 0;  // of the CPU time of all tasks, 0..1
    std::uint64_t runs = 0;
    LeftCounts left{};
    std::uint64_t ready_ns = 0;    // waited for a core
    std::uint64_t blocked_ns = 0;  // waited for something else
    std::uint64_t longest_ns = 0;  // wait for a core; 0: none
    std::uint64_t longest_end_ns = 0;
    unsigned longest_core = 0;
    std::optional<std::string> behind;  // the task that ran there meanwhile; outside text
    std::vector<WaitedFor> waited_for;  // the longest first
    std::uint64_t stack_bytes = 0;      // of the task that used the largest part; 0: not told
    std::uint64_t stack_used = 0;       // 0: not known

    std::uint64_t count_of(protocol::Left how) const { return left[static_cast<std::size_t>(how)]; }
};

struct CoreLine {
    unsigned core = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t idle_ns = 0;  // of this, in idle tasks
    std::uint64_t tracer_ns = 0;
};

struct TaskTable {
    std::vector<TaskLine> tasks;  // by CPU time
    std::vector<CoreLine> cores;
};

struct TaskTableOptions {
    // Globs of the names of tasks that run when there is nothing to do. A core's own context is
    // idle, too, if the core runs other tasks.
    std::vector<std::string> idle = {"*idle*", "*IDLE*", "*Idle*"};
    std::string only;   // a glob, as Tasks::is_named(): lines of other tasks are left out
    bool each = false;  // a line for each task, whatever its name
};

void add_contexts(Report& report, const Profile& profile);  // and the kernel's objects

TaskTable task_table(const Report& report, const Profile& profile,
                     const TaskTableOptions& options = {});

}  // namespace nopscope::host
