// SPDX-License-Identifier: Apache-2.0
// How long tasks waited: for a core, and for what they were blocked on. From the records of
// switches, and of what the firmware tells of tasks (docs/trace-format.md, "Tasks").
//
// A task that a core left because it was preempted or gave way is ready from then on, a task that
// was blocked from its `ready` record on. It waits for a core until one runs it. If the firmware
// writes no `ready` records, a blocked task is blocked until it runs. What a gap or a missing
// record of a switch may hide counts nowhere.
//
// The cores' records come in pieces, and a task's may be on several cores. So the events wait in
// `pending_`, and are taken in the order of their clocks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "host-tools/calls/call.hpp"
#include "host-tools/calls/tasks.hpp"

namespace nopscope::host {

// The sums of one task in one session.
struct TaskWaits {
    struct OfObject {
        std::uint64_t waits = 0;
        Ticks ticks = 0;  // blocked after them
    };

    std::uint64_t runs = 0;  // times that a core began to run it
    Ticks ready_ticks = 0;
    Ticks blocked_ticks = 0;
    // The longest wait for a core, when it ended and where, and the task that ran there longest
    // meanwhile, of the last 64 that ran. 0: none.
    Ticks longest = 0;
    std::uint64_t longest_end = 0;  // ns since the recording's first record
    unsigned longest_core = 0;
    std::optional<Tasks::Key> behind;
    std::map<std::uint64_t, OfObject> objects;  // by id
};

class Scheduling {
public:
    static constexpr std::size_t max_objects = 64;  // of a task; later ones are left out

    using Kind = TaskEvent;
    // What core `core` told at `clock`, which is that of an axis of times.
    void add(unsigned core, std::uint64_t clock, Kind kind, std::uint64_t data,
             MemoryBudget& budget);
    // `axis_ns`: the time of a clock, as TaskWaits::longest_end.
    template <typename AxisNs>
    void on_session_end(std::uint64_t session, MemoryBudget& budget, AxisNs axis_ns) {
        take(pending_.size(), budget);
        for (auto& [key, task] : tasks_now_) {
            if (task.waits.runs == 0 || tasks_.size() == Tasks::max_entries) {
                budget.release(price_of(task.waits));
                continue;
            }
            if (task.waits.longest != 0) task.waits.longest_end = axis_ns(task.longest_clock);
            if (task.behind != none) task.waits.behind = task_of(session, task.behind);
            tasks_[task_of(session, key)] = std::move(task.waits);
        }
        begin_anew();
    }

    // Of the sessions that are over.
    const std::map<Tasks::Key, TaskWaits>& tasks() const { return tasks_; }
    std::uint64_t left_out() const { return left_out_; }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    struct Event {
        std::uint64_t clock;
        std::uint64_t data;
        Kind kind;
        std::uint8_t core;
    };
    enum class State : std::uint8_t { unknown, runs, ready, blocked };
    struct Task {
        State state = State::unknown;
        std::uint64_t since = 0;
        std::uint64_t gaps = 0;  // `gaps_` then
        std::uint64_t object = none;
        TaskWaits waits;
        std::uint64_t longest_clock = 0;
        std::uint64_t behind = none;
    };
    struct Ran {
        std::uint64_t key;
        std::uint64_t from;
        std::uint64_t to;
    };
    struct Core {
        std::uint64_t runs = none;  // the key of a task
        std::uint64_t left = none;
        std::uint64_t since = 0;
        std::vector<Ran> history;  // the last ones, the oldest first from `oldest` on, in a ring
        std::size_t oldest = 0;
    };
    static constexpr std::size_t most_pending = std::size_t{1} << 16;
    static constexpr std::size_t history_size = 64;

    // Context 0 is each core's own.
    static std::uint64_t key_of(unsigned core, std::uint64_t context) {
        return context == 0 ? core << 1 | 1 : context << 1;
    }
    void take(std::size_t count, MemoryBudget& budget);
    void take(const Event& event, MemoryBudget& budget);
    void begin_running(Core& core, unsigned number, std::uint64_t key, std::uint64_t clock,
                       MemoryBudget& budget);
    Task* task_now(std::uint64_t key, MemoryBudget& budget);
    void end_wait(Task& task, const Core& core, unsigned number, std::uint64_t clock);
    void end_blocked(Task& task, std::uint64_t clock);
    std::uint64_t longest_since(const Core& core, std::uint64_t clock) const;
    void set(Task& task, State state, std::uint64_t clock);
    void begin_anew();
    static Tasks::Key task_of(std::uint64_t session, std::uint64_t key);
    static std::uint64_t price_of(const TaskWaits& waits);

    std::vector<Event> pending_;
    std::array<Core, 256> cores_;
    std::unordered_map<std::uint64_t, Task> tasks_now_;  // by key_of()
    std::uint64_t gaps_ = 0;
    std::map<Tasks::Key, TaskWaits> tasks_;
    std::uint64_t left_out_ = 0;
};

}  // namespace nopscope::host
