// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"
#include "switch.hpp"

namespace tasks {

namespace {

namespace hal = nopscope::hal;
using nopscope::ContextEvent;
using nopscope::SwitchReason;

struct alignas(64) Core {
    Task* tasks[2] = {};
    Task* running = nullptr;  // null: the idle task
    std::uint64_t idle_sp = 0;
};
constinit Core cores[hal::max_cores];

Core& here() { return cores[hal::this_core()]; }

// What waits and switches is not traced: these calls would be open while other tasks run, and the
// idle task and each allocation make many.
NOPSCOPE_NOTRACE Task* first_ready(const Core& core) {
    for (Task* const task : core.tasks) {
        if (task == nullptr || task == core.running) continue;
        if (task->state == State::ready) return task;
        if (task->state == State::waiting && task->is_woken.load(std::memory_order_acquire) != 0)
            return task;
    }
    return nullptr;
}
NOPSCOPE_NOTRACE bool all_ended(const Core& core) {
    for (const Task* const task : core.tasks) {
        if (task != nullptr && task->state != State::ended) return false;
    }
    return true;
}

// Null: the idle task. Interrupts are masked: no traced handler may come between the two switches.
NOPSCOPE_NOTRACE void switch_to(Task* to, SwitchReason why) {
    const hal::InterruptsMasked masked;
    Core& core = here();
    Task* const from = core.running;
    core.running = to;
    if (to != nullptr) {
        to->is_woken.store(0, std::memory_order_relaxed);
        to->state = State::running;
    }
    // nopscope: right before the stacks are switched
    if (nopscope::context_switch(to != nullptr ? to->context : nopscope::main_context(), why) !=
        nopscope::Status::ok) {
        hal::panic("tasks: no switch");
    }
    switch_stacks(from != nullptr ? &from->sp : &core.idle_sp,
                  to != nullptr ? to->sp : core.idle_sp);
}

NOPSCOPE_NOTRACE void switch_away(State state, SwitchReason why) {
    Core& core = here();
    core.running->state = state;
    switch_to(first_ready(core), why);
}

// A task's first function.
[[noreturn]] NOPSCOPE_NOTRACE void begin() {
    hal::enable_interrupts();
    here().running->function();
    switch_away(State::ended, SwitchReason::ended);
    hal::panic("tasks: an ended task runs");
}

}  // namespace

void create(Task& task, const char* name, unsigned priority, void (*function)()) {
    Core& core = here();
    core.tasks[core.tasks[0] == nullptr ? 0 : 1] = &task;
    task.function = function;
    const auto low = reinterpret_cast<std::uintptr_t>(task.stack);
    task.sp = first_sp(task.stack, begin);
    // nopscope: before the task runs
    const nopscope::Status status =
        nopscope::context_create(task.context, task.frames, low, low + sizeof task.stack,
                                 {.name = name,
                                  .priority = priority,
                                  .id = reinterpret_cast<std::uintptr_t>(&task),
                                  .interrupts = false});
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}

NOPSCOPE_NOTRACE void run() {
    // nopscope: this stack's context
    nopscope::context_describe(nopscope::main_context(), {.name = "idle"});
    Core& core = here();
    while (!all_ended(core)) {
        if (Task* const next = first_ready(core); next != nullptr)
            switch_to(next, SwitchReason::gave_way);
        else
            hal::yield();
    }
    for (Task* const task : core.tasks) {
        if (task != nullptr && nopscope::context_destroy(task->context) != nopscope::Status::ok)
            hal::panic("tasks: a context is busy");
    }
}

NOPSCOPE_NOTRACE void wake(Task& task) {
    // nopscope: so the host knows how long the task waits for a core
    if (task.is_woken.exchange(1, std::memory_order_release) == 0)
        nopscope::context_event(ContextEvent::ready, task.context.number);
}

NOPSCOPE_NOTRACE void give_way() {
    Core& core = here();
    if (core.running == nullptr) return;
    if (Task* const next = first_ready(core); next != nullptr) {
        core.running->state = State::ready;
        switch_to(next, SwitchReason::gave_way);
    }
}

NOPSCOPE_NOTRACE void wait(const void* object) {
    if (here().running->is_woken.exchange(0, std::memory_order_acquire) != 0) return;
    nopscope::context_event(ContextEvent::waits, reinterpret_cast<std::uintptr_t>(object));
    switch_away(State::waiting, SwitchReason::blocked);
}

}  // namespace tasks
