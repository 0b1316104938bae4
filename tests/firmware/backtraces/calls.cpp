// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/backtraces/calls.hpp"

#include <csetjmp>

#include "hal/hal.hpp"

// This file is compiled without tail calls, but for these functions.
#define JUMPS [[gnu::noinline, gnu::optimize("optimize-sibling-calls")]]

namespace {

constexpr unsigned sgi = 3;
std::jmp_buf back;

}  // namespace

extern "C" {

[[gnu::noinline]] unsigned leaf(unsigned n) { return 3 * n + 1; }
[[gnu::noinline]] unsigned calls_leaf(unsigned n) { return leaf(n) + n; }

[[gnu::noinline]] unsigned deepest(unsigned n) {
    stopped(1);
    return n + 1;
}
[[gnu::noinline]] unsigned jumped_to(unsigned n) { return deepest(n + 5) + n; }
JUMPS unsigned jumps(unsigned n) { return jumped_to(n ^ 3); }
[[gnu::noinline]] unsigned calls_what_jumps(unsigned n) {
    unsigned kept = 7 * n + 11;  // gdb reads it from where a callee saved it
    asm volatile("" : "+r"(kept));
    const unsigned result = jumps(n);
    asm volatile("" : : "r"(kept));
    return result + kept;
}
[[gnu::noinline]] unsigned short_jumped_to(unsigned n) { return n + 2; }
JUMPS unsigned short_jumps(unsigned n) { return short_jumped_to(n ^ 5); }
[[gnu::noinline]] unsigned calls_what_jumps_short(unsigned n) { return short_jumps(n) + n; }

[[gnu::noinline]] void leaps() { std::longjmp(back, 1); }
[[gnu::noinline]] void calls_leaps() { leaps(); }
[[gnu::noinline]] void after_the_leap() { stopped(3); }
[[gnu::noinline]] void catches() {
    if (setjmp(back) == 0) {
        calls_leaps();
    } else {
        stopped(2);
        after_the_leap();
    }
}

[[gnu::noinline]] void handles() { stopped(4); }
void on_interrupt(unsigned) { handles(); }
[[gnu::noinline]] void is_interrupted() {
    nopscope::hal::raise_interrupt(sgi);
    for (unsigned turn = 0; turn < 100; ++turn) asm volatile("");
}

[[gnu::noinline]] void in_task() { stopped(5); }
void begin_task() { in_task(); }

unsigned begin(unsigned n) {
    unsigned result = calls_leaf(n);
    result += calls_what_jumps_short(n);
    result += calls_what_jumps(n);
    catches();
    is_interrupted();
    run_task();
    return result;
}

[[gnu::noinline]] void spins() {
    for (;;) asm volatile("");
}
[[gnu::noinline]] void calls_spins() { spins(); }
void begin_core() { calls_spins(); }
}
