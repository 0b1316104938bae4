// SPDX-License-Identifier: Apache-2.0
// The sweeps' interrupt: an instrumented handler. It calls functions that move the shadow stack,
// whatever instruction it interrupted. sweep.hpp has the number of its calls.
#include "tests/firmware/torture/sweep.hpp"
#include "tracer/core/cores.hpp"

extern "C" const char nopscope_recording[];

namespace torture {

volatile uint64_t came_at, landed_at, landing_sp;
volatile uint32_t landings;
volatile bool landed_after;
uint32_t task_calls;
bool calls_are_lowest;

namespace {

void (*volatile leave)(jmp_buf, int) = longjmp;

TORTURE_CALL double halve(unsigned depth, double x) {
    landing_sp = reinterpret_cast<uint64_t>(__builtin_dwarf_cfa());
    return depth == 0 ? x : halve(depth - 1, x / 2) + 1;
}
TORTURE_CALL uint64_t second(uint64_t x) { return x * 3; }
TORTURE_CALL uint64_t first(uint64_t x) { return second(x + 1); }  // a tail call
TORTURE_CALL void catch_leap() {
    jmp_buf back;
    const int value = setjmp(back);
    if (value == 0) leap(2, back);
    TORTURE_EXPECT(value == 7);
}
// Nine calls.
[[gnu::always_inline]] inline void make_calls() {
    TORTURE_EXPECT(first(4) == 15);
    TORTURE_EXPECT(halve(2, 8.0) == 4.0);
    catch_leap();
}

image::Task other;

NOPSCOPE_NOTRACE void run_other() {
    for (;;) {
        make_calls();
        other.leave();
    }
}
NOPSCOPE_NOTRACE void enter_other() { other.enter(); }

}  // namespace

NOPSCOPE_NOTRACE void start_other_task() {
    calls_are_lowest = image::is_given("lowest=1");
    if (!image::is_given("tasks=1")) return;
    image::must(other.create(run_other));
    task_calls = 9;
    nopscope::hal::set_after_interrupt(enter_other);
}

TORTURE_CALL uint64_t deep(unsigned depth, void (*then)()) {
    if (depth > 0) return opaque(deep(depth - 1, then)) + 1;
    then();
    return 0;
}

TORTURE_CALL void leap(unsigned depth, jmp_buf back) {
    if (depth > 0) {
        leap(depth - 1, back);
    } else {
        leave(back, 7);
    }
    TORTURE_EXPECT(false);
}

TORTURE_CALL const char* run_inside(const char* (*run)(const Run&), const Run& argument) {
    const char* result = run(argument);
    asm volatile("" ::: "memory");  // not a tail call
    return result;
}

void on_landing(unsigned) {
    const uint64_t pc = nopscope::hal::interrupted_registers().pc;
    nopscope::hal::timer_disarm();
    make_calls();
    landed_at = pc;
    uint64_t& deferral = nopscope::all_cores()[0].deferral_at;
    came_at = deferral != 0 ? reinterpret_cast<uint64_t>(nopscope_recording) + 4 * deferral : pc;
    deferral = 0;
    landed_after = torture_returned.sp != 0;
    landings = landings + 1;
}

TORTURE_CALL void shared() { asm volatile("" ::: "memory"); }

// The call is of a function that it may have interrupted, so that both add to the same cell.
TORTURE_CALL void on_profile_landing(unsigned interrupt) {
    on_landing(interrupt);
    shared();
    asm volatile("" ::: "memory");  // not a tail call
}

}  // namespace torture
