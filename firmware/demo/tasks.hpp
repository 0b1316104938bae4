// SPDX-License-Identifier: Apache-2.0
// Tasks that stay on their core and give way to each other there. A core's own stack is that of its
// idle task, which runs while no other can. A task gives way only in the functions below, never
// within newlib. So the tasks of a core can share its newlib state (newlib_cores.hpp).
//
// examples/tasks has a preemptive kernel.
#pragma once

#include <atomic>
#include <cstdint>

#include "nopscope/contexts.hpp"

namespace tasks {

enum class State : std::uint8_t { ready, running, waiting, ended };

struct Task {
    nopscope::Context context;
    nopscope::ContextFrame frames[200];
    alignas(16) unsigned char stack[65536] = {};
    std::uint64_t sp = 0;  // while it does not run
    void (*function)() = nullptr;
    State state = State::ready;
    std::atomic<unsigned> is_woken = 0;  // 0 or 1: not every CPU exchanges a byte
};

// Makes a task of this core, which has joined the tracer; at most two. The more urgent one first.
void create(Task& task, const char* name, unsigned priority, void (*function)());
// Makes the caller this core's idle task until all of its tasks have ended.
void run();
// Ends the wait of `task`, or the next one. Any core.
void wake(Task& task);

// The following are for tasks.

// Lets a ready task of this core run, if there is one.
void give_way();
// Lets others run until wake(). `object` is what the task waits for.
void wait(const void* object);

}  // namespace tasks
