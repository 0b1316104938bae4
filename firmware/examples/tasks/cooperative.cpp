// SPDX-License-Identifier: Apache-2.0
// Two cooperative tasks, each with its own call tree in the report; a mark and a trigger.
#include "switch.hpp"
#include "workloads.hpp"

#include "hal/hal.hpp"
#include "nopscope/contexts.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/triggers.hpp"

namespace hal = nopscope::hal;

extern "C" {

struct Task {
    nopscope::Context context;
    nopscope::ContextFrame frames[33];
    alignas(16) unsigned char stack[16384] = {};
    std::uint64_t sp = 0;
    bool done = false;
};
static constinit Task tasks[2];
static std::uint64_t main_sp;
static Task* running;
static bool many_switches;

[[gnu::noinline]] void runs_again() { asm volatile(""); }

// Switches to the other task. If it is done, continues the caller; if both are done, goes to main.
[[gnu::noinline]] void give_way() {
    Task* const from = running;
    Task* to = from == &tasks[0] ? &tasks[1] : &tasks[0];
    if (to->done) to = from != nullptr && !from->done ? from : nullptr;
    if (to == from) return;
    running = to;
    const hal::InterruptsMasked masked;
    if (nopscope::context_switch(to != nullptr ? to->context : nopscope::main_context()) !=
        nopscope::Status::ok) {
        hal::panic("tasks: no switch");
    }
    switch_stacks(from != nullptr ? &from->sp : &main_sp, to != nullptr ? to->sp : main_sp);
    if (many_switches) runs_again();  // the task's first record is then an entry, not a return
    asm volatile("");
}

[[gnu::noinline]] void spin(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) asm volatile("");
}
[[gnu::noinline]] void alpha_part() { spin(1000); }
[[gnu::noinline]] void beta_part() {
    spin(3000);
    asm volatile("");
}
[[gnu::noinline]] void alpha_step(unsigned step) {
    alpha_part();
    if (step == 5) nopscope::mark(7);
    give_way();
    alpha_part();
    asm volatile("");
}
[[gnu::noinline]] void beta_step() {
    beta_part();
    give_way();
    asm volatile("");
}

[[gnu::noinline]] void switch_often() {
    for (unsigned i = 0; i < 15'000; ++i) give_way();
}
[[gnu::noinline]] void alpha() {
    for (unsigned i = 0; i < 10; ++i) alpha_step(i);
}
[[gnu::noinline]] void beta() {
    for (unsigned i = 0; i < 20; ++i) beta_step();
}
static void task_begins() {
    hal::enable_interrupts();
    if (many_switches)
        switch_often();
    else if (running == &tasks[0])
        alpha();
    else
        beta();
    running->done = true;
    give_way();
    hal::panic("tasks: one runs again");
}

[[gnu::noinline]] void schedule() {
    while (!tasks[0].done || !tasks[1].done) give_way();
    asm volatile("");
}
}

static void create(Task& task) {
    const auto low = reinterpret_cast<std::uintptr_t>(task.stack);
    const std::uint64_t high = low + sizeof task.stack;
    if (nopscope::context_create(task.context, task.frames, low, high) != nopscope::Status::ok) {
        hal::panic("tasks: no context");
    }
    task.sp = first_sp(task.stack, task_begins);
}

void run_cooperative(bool many) {
    many_switches = many;
    for (Task& task : tasks) create(task);
    static nopscope::Trigger third(nopscope::Action::snapshot, 3, 9);
    static const void* const beta_parts[] = {reinterpret_cast<const void*>(beta_part)};
    if (nopscope::attach(third, nopscope::Sites::of(beta_parts)) != nopscope::Status::ok ||
        nopscope::enable(nopscope::Recorder::graph, nopscope::Sites::all()) !=
            nopscope::Status::ok) {
        hal::panic("tasks: not enabled");
    }
    schedule();
    for (Task& task : tasks) {
        if (nopscope::context_destroy(task.context) != nopscope::Status::ok)
            hal::panic("tasks: busy");
    }
    if (nopscope::disable(nopscope::Sites::all()) != nopscope::Status::ok)
        hal::panic("tasks: disable");
    hal::print("tasks: done\n");
}
