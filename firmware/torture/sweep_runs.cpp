// SPDX-License-Identifier: Apache-2.0
#include "firmware/torture/registers.hpp"
#include "firmware/torture/sweep.hpp"
#include "firmware/torture/torture.hpp"
#include "hal/hal.hpp"

#include <setjmp.h>
#include <stdio.h>

namespace hal = nopscope::hal;

namespace torture {

void leap(unsigned depth, jmp_buf back);
uint64_t dig(unsigned depth);
const char* run_inside(const char* (*run)(const void*), const void* argument);

volatile uint32_t interrupts[4];
void toggle() {}

namespace {

volatile unsigned failures;
constexpr bool both[] = {false, true};
constexpr unsigned max_delay = 5000;

SweepPlan plan;
unsigned phases;
bool callees_hooked;

void note_landing() {
    for (unsigned n = 0; n < plan.path_count; ++n) {
        Path& path = plan.paths[n];
        const uint64_t offset = landed_at - reinterpret_cast<uint64_t>(path.begin);
        if (offset / 4 < path.length()) ++path.hits[offset / 4];
    }
}

void complain(const Callee& callee, const char* what) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("sweep: %s, delay %lu + %lu, interrupt at %#lx: %s\n", callee.name,
           static_cast<unsigned long>(torture_delay), static_cast<unsigned long>(torture_phase),
           static_cast<unsigned long>(landed_at), what);
}

// Leaves three frames on the shadow stack, far below the next call's SP, for that call to find.
TORTURE_CALL void abandon_frames() {
    jmp_buf back;
    auto* room = static_cast<volatile char*>(__builtin_alloca(2048));
    room[0] = 1;
    if (setjmp(back) == 0) leap(2, back);
}

// Uses the shadow stack's next frames for calls far below the next call's SP, and releases them:
// what they leave behind in a frame that is published but not written yet must not be taken for a
// call that was skipped.
TORTURE_CALL void use_frames() {
    auto* room = static_cast<volatile char*>(__builtin_alloca(8192));
    room[0] = 1;
    if (dig(6) != 6) fail(__FILE__, __LINE__);
}

struct Run {
    const Callee& callee;
    bool abandoned;
};

// What is wrong with the registers or the shadow stack, or null. Runs inside a traced call, the
// only one that may be open after the one that is checked.
const char* call_once(const void* argument) {
    const Run& run = *static_cast<const Run*>(argument);
    use_frames();
    if (run.abandoned) abandon_frames();
    torture_returned.sp = 0;
    const char* wrong = check_registers(run.callee.function, torture_delay, 0);
    if (wrong == nullptr && callees_hooked && nopscope::hooked_return_address(1) != 0)
        return "a skipped call is open";
    return wrong;
}

// One call with one interrupt. True when the interrupt came after the call.
bool run_once(const Callee& callee, bool abandoned) {
    const uint32_t before = landings;
    const Run run{callee, abandoned};
    if (plan.start != nullptr) plan.start();
    const char* wrong = run_inside(call_once, &run);
    for (unsigned turns = 0; turns < 100000 && landings == before; ++turns) {
        asm volatile("isb" ::: "memory");
    }
    if (landings != before + 1) complain(callee, "not one interrupt");
    if (wrong != nullptr) complain(callee, wrong);
    wrong = plan.finish != nullptr ? plan.finish(callee, abandoned) : nullptr;
    if (wrong != nullptr) complain(callee, wrong);
    if (nopscope::hooked_return_address(0) != 0) complain(callee, "a call is still open");
    note_landing();
    return landed_after;
}

// Every delay from 1 tick until one whose interrupts, in every phase, come after the call.
unsigned sweep(const Callee& callee, bool abandoned) {
    unsigned runs = 0;
    for (unsigned delay = 1; delay < max_delay; ++delay) {
        bool all_after = true;
        for (unsigned phase = 0; phase < phases; ++phase, ++runs) {
            torture_delay = delay;
            torture_phase = phase;
            torture_jitter = (torture_jitter * 5 + 3) % 16;  // each of 0 to 15, in some order
            all_after = run_once(callee, abandoned) && all_after;
        }
        if (all_after) return runs;
    }
    complain(callee, "the interrupt never came after the call");
    return runs;
}

void report(const Path& path) {
    unsigned hit = 0;
    for (unsigned n = 0; n < path.length(); ++n) {
        if (path.hits[n] != 0) {
            ++hit;
        } else {
            printf("sweep: %s+%#x was never hit\n", path.name, 4 * n);
            failures = failures + 1;
        }
    }
    printf("sweep: %s: interrupted at %u of %u instructions\n", path.name, hit, path.length());
}

}  // namespace

void start_sweep(const SweepPlan& given) {
    plan = given;
    for (unsigned n = 0; n < plan.path_count; ++n) {
        if (plan.paths[n].length() > Path::max_length) hal::panic("sweep: a path is too long");
    }
    // The wait for a tick ends within 3 instructions of it: that much more than a tick's length.
    const auto tick = static_cast<unsigned>(1000000000 / hal::clock_hz());
    phases = tick == 1 ? 1 : tick + 12;
    if (phases > max_phase) hal::panic("sweep: the clock is too slow for the NOPs there are");
    hal::set_handler(hal::virtual_timer_interrupt, 8, on_landing);
    hal::enable_interrupts();
}

void sweep_all(const char* name, bool hooked) {
    callees_hooked = hooked;
    for (unsigned n = 0; n < plan.callee_count; ++n) {
        for (const bool abandoned : both) {
            const unsigned runs = sweep(plan.callees[n], abandoned);
            printf("sweep: %s, %s%s: %u runs\n", name, plan.callees[n].name,
                   abandoned ? " after a longjmp" : "", runs);
        }
    }
    torture_delay = 0;
}

unsigned end_sweep() {
    hal::disable_interrupts();
    for (unsigned n = 0; n < plan.path_count; ++n) report(plan.paths[n]);
    printf("sweep: %s: %u landings, %u failures\n", failures == 0 ? "passed" : "FAILED",
           static_cast<unsigned>(landings), failures);
    fflush(stdout);
    return failures;
}

void fail(const char* file, unsigned line) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("sweep: an invariant failed, %s:%u\n", file, line);
}

}  // namespace torture
