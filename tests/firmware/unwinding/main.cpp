// SPDX-License-Identifier: Apache-2.0
// Throws and catches, first untraced, then traced: in thread context, in an interrupt's handler
// with traced code interrupted, in a task, and on a second core if there is one. Last it prints how
// often it called each traced function. Words of the command line say how the calls are traced:
//
//     recorder=none|function|graph|profile|duration|sampled   ops=return   events=1
//     only: nothing of the C library is traced, and exceptions also come on a stack that the tracer
//     does not know
#include "tests/firmware/image.hpp"
#include "tests/firmware/unwinding/calls.hpp"
#include "tests/firmware/unwinding/runtime.hpp"

#include <cstdio>

namespace hal = nopscope::hal;

using image::is_given;
using image::must;
using nopscope::Sites;

namespace {

constexpr unsigned sgi = 3;
constexpr unsigned ticks = 400;

Backtrace untraced;
volatile bool second_core_is_done = false;

bool is_only = false;

// Catches what traced functions throw, and calls none of them then: the calls must end here.
void on_interrupt(unsigned) {
    try {
        (void)handles(5);
    } catch (...) {
    }
}
unsigned ticks_left = 0;
void on_timer(unsigned interrupt) {
    on_interrupt(interrupt);
    if (--ticks_left == 0) {
        hal::timer_disarm();
    } else {
        hal::timer_arm(hal::clock() + hal::clock_hz() / 1'000'000 + ticks_left);
    }
}

std::uint64_t here_sp, elsewhere_sp;

void throw_elsewhere() {
    UNWINDING_ENDS_HERE;
    for (;;) {
        try {
            throw 1;
        } catch (int) {
        }
        switch_stacks(&elsewhere_sp, here_sp);
    }
}
// On a stack from the heap, which lies above all stacks of the cores.
void run_elsewhere() {
    constexpr std::size_t bytes = 16384;
    if (elsewhere_sp == 0) {
        const std::span stack(static_cast<unsigned char*>(std::malloc(bytes)), bytes);
        elsewhere_sp = first_sp(stack, throw_elsewhere);
    }
    switch_stacks(&here_sp, elsewhere_sp);
}

void interrupt() {
    hal::raise_interrupt(sgi);
    hal::fetch_barrier();  // the interrupt comes here, not later
    if (is_only) run_elsewhere();
}

void check(bool right, const char* what) {
    if (!right) hal::panic(what);
}

// In thread context of core 0, as many functions are below this one as untraced.
[[gnu::noinline]] void make_all_calls(bool in_main = false) {
    constexpr std::size_t known = 4;  // traces(), calls_tail_calls(), everything(), and this one
    for (unsigned n = 1; n <= 5; ++n) check(everything(n, interrupt), "a wrong result");
    if (untraced.count == 0) untraced = backtrace;
    check(backtrace.count > known, "frames are missing");
    check(!in_main || backtrace.count == untraced.count, "more or less frames");
    for (std::size_t n = 0; n < known; ++n)
        check(backtrace.addresses[n] == untraced.addresses[n], "another address");
}

// Interrupts wherever the timer comes: in the first half also within the recorders, in the second
// half within the unwinder.
void be_interrupted() {
    ticks_left = ticks;
    hal::timer_arm(hal::clock());
    while (*const_cast<volatile unsigned*>(&ticks_left) > ticks / 2) (void)leaf(1);
    while (*const_cast<volatile unsigned*>(&ticks_left) != 0)
        check(catches_deep(5) == 1, "a wrong result while interrupted");
}

image::Task task;

void run_task() {
    UNWINDING_ENDS_HERE;
    hal::enable_interrupts();
    make_all_calls();
    const hal::InterruptsMasked masked;
    task.leave();
}
void run_as_task() {
    must(task.create(run_task));
    const hal::InterruptsMasked masked;
    task.enter();
}

void run_core(unsigned) {
    const auto [low, high] = hal::stack_bounds();
    must(nopscope::join(low, high));
    hal::set_handler(sgi, 8, on_interrupt);
    hal::enable_interrupts();
    (void)leaf(1);  // durations are recorded at their end: a core's time begins at its first record
    make_all_calls();
    second_core_is_done = true;
    for (;;) hal::wait_for_interrupt();  // start_core() looks whether this core is on
}

void print_calls() {
    const auto begun = image::begun, ended = image::ended;  // printf() is traced
#define PRINT(name, left) std::printf("%s %u %u\n", #name, called.name, (left) ? called.name : 0);
    UNWINDING_FUNCTIONS(PRINT)
#undef PRINT
    std::printf("callbacks %lu %lu\n", begun, ended);
}

}  // namespace

int main() {
    register_frames();
    hal::set_handler(sgi, 8, on_interrupt);
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    hal::enable_interrupts();
    is_only = is_given(" only");
    make_all_calls(true);

    image::start_tracer(image::config_given("unwinding"));
    image::trace_as_given(is_only ? Sites::of(traced_functions) : Sites::all());
    called = {};
    make_all_calls(true);
    be_interrupted();
    run_as_task();
    if (hal::core_count() > 1) {
        check(hal::start_core(1, run_core), "no second core");
        while (!second_core_is_done) nopscope::pump();
    }
    hal::disable_interrupts();
    nopscope::stop();
    must(nopscope::disable(Sites::all()));
    print_calls();
    nopscope::finish();
    return 0;
}
