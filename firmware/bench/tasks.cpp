// SPDX-License-Identifier: Apache-2.0
// bench-tasks.elf: the costs with the library that defers interrupts, and those of tasks: a switch,
// and how long the pump masks interrupts.
//
// Command-line word: budget=N, Config::pump_budget.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"
#include "hal/hal.hpp"
#include "nopscope/contexts.hpp"
#include "nopscope/nopscope.hpp"

#include <stdio.h>

namespace hal = nopscope::hal;

namespace {

using bench::need;
using nopscope::Sites;
using nopscope::Status;
using nopscope::SwitchReason;

void need_ok(Status status) { need(status == Status::ok, nopscope::describe(status)); }

// ---- a switch ----

nopscope::Context task;
nopscope::ContextFrame frames[17];

nopscope::Context* main_task;
bool failed;
void to_task_and_back() {
    failed |= nopscope::context_switch(task) != Status::ok;
    failed |= nopscope::context_switch(*main_task) != Status::ok;
}
void with_reasons() {
    failed |= nopscope::context_switch(task, SwitchReason::blocked) != Status::ok;
    failed |= nopscope::context_switch(*main_task, SwitchReason::preempted) != Status::ok;
}
void nothing() {}

void measure_switch() {
    need_ok(nopscope::context_create(task, frames, 0x1000, 0x2000));
    need_ok(nopscope::enable(nopscope::Recorder::graph, Sites::all()));
    main_task = &nopscope::main_context();
    const hal::InterruptsMasked masked;
    const bench::Reading off = bench::loop_of(nothing);
    bench::print({"switch of context", "", 1, 0}, bench::loop_of(to_task_and_back), off,
                 2 * bench::calls);
    bench::print({"switch of context, with reason", "", 1, 0}, bench::loop_of(with_reasons), off,
                 2 * bench::calls);
    need(!failed, "bench: a switch failed");
}

// ---- interrupts off ----

// A timer interrupt comes at uneven distances. Its delay is the time for which interrupts were off,
// plus the way to the handler.
constexpr std::uint64_t distances[] = {1009, 2003, 499, 3001};  // ticks
volatile std::uint64_t due, longest, interrupts;

void on_timer(unsigned) {
    const std::uint64_t now = hal::clock(), late = now - due;
    if (late > longest) longest = late;
    interrupts = interrupts + 1;
    due = now + distances[interrupts % 4];
    hal::timer_arm(due);
}

// Returns the longest delay in ticks while work() runs.
template <typename Work>
std::uint64_t longest_delay(Work work) {
    longest = 0;
    interrupts = 0;
    due = hal::clock() + distances[0];
    hal::timer_arm(due);
    hal::enable_interrupts();
    while (interrupts < 2000) work();
    hal::disable_interrupts();
    hal::timer_disarm();
    return longest;
}

void measure_pump() {
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    const std::uint64_t idle = longest_delay([] {});
    need_ok(nopscope::set_mode(nopscope::Mode::lossless));
    need_ok(nopscope::enable(nopscope::Recorder::graph, Sites::all()));
    const std::uint64_t recording = longest_delay([] {
        bench_loop(bench::traced, bench::calls);
        nopscope::pump();
    });
    need_ok(nopscope::disable(Sites::all()));
    need(nopscope::counters().dropped == 0, "bench: records were dropped");
    // With -icount shift=0 an instruction takes a nanosecond.
    const std::uint64_t tick = 1'000'000'000 / hal::clock_hz();
    bench::print({"interrupts off in a pump", "", 1, 0}, {(recording - idle) * tick, 0, recording},
                 {0, 0, idle}, 1);
}

}  // namespace

int main() {
    bench::variant = "deferred";
    bench::initialise();
    bench::find_functions();
    bench::measure_recorders();
    measure_switch();
    measure_pump();
    printf("bench: done\n");
    fflush(stdout);
    nopscope::finish();
    hal::exit(0);
}
