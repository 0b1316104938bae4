// SPDX-License-Identifier: Apache-2.0
// The runs of all sweeps: their use of the shadow stack before the call, the times of their
// interrupts, and the instructions that they hit.
#include "tests/firmware/torture/sweep.hpp"
#include "tracer/core/cores.hpp"

#include <stdio.h>

namespace torture {

namespace {

SweepPlan plan;
bool callees_hooked;

// Leaves three frames on the shadow stack, far below the next call's SP. That call finds them.
TORTURE_CALL void abandon_frames() {
    jmp_buf back;
    auto* room = static_cast<volatile char*>(__builtin_alloca(2048));
    room[0] = 1;
    if (setjmp(back) == 0) leap(2, back);
}

// Uses the next frames of the shadow stack for calls far below the next call's SP, and releases
// them. A frame that is published but not yet written then has old contents: these must not look
// like a call that was skipped.
TORTURE_CALL void use_frames() {
    auto* room = static_cast<volatile char*>(__builtin_alloca(8192));
    room[0] = 1;
    if (deep(6, [] {}) != 6) fail(__FILE__, __LINE__);
}

// With calls_are_lowest: makes the next hooked call the lowest on this stack.
void forget_lowest() {
    landing_sp = ~uint64_t{0};
    nopscope::Core& core = nopscope::all_cores()[0];
    if (calls_are_lowest) core.lowest_sp = core.stack_high;
}
// Afterwards: true if the lowest SP is right.
bool knows_lowest() {
    if (!calls_are_lowest) return true;
    const uint64_t landing = task_calls == 0 ? landing_sp : ~uint64_t{0};  // not the other task's
    const uint64_t lowest = __atomic_load_n(&nopscope::all_cores()[0].lowest_sp, __ATOMIC_RELAXED);
    return lowest <= torture_returned.sp && lowest <= landing;
}

const char* call_once(const Run& run) {
    use_frames();
    if (run.abandoned) abandon_frames();
    torture_returned.sp = 0;
    forget_lowest();
    const char* wrong = nullptr;
    if (run.callee.function == shared)  // takes no registers
        torture_call_registers(shared, 0);
    else
        wrong = check_registers(run.callee.function, torture_delay, 0);
    if (wrong != nullptr || !callees_hooked) return wrong;
    if (!knows_lowest()) return "a lower call is forgotten";
    return nopscope::hooked_return_address(1) != 0 ? "a skipped call is open" : nullptr;
}

void note_landing() {
    for (Path& path : plan.paths) {
        const uint64_t at =
            (came_at - reinterpret_cast<uint64_t>(path.begin)) / instruction_alignment;
        if (at < path.length() && at < Path::max_length) ++path.hits[at];
    }
}

// One call with one interrupt. True: the interrupt came after the call.
bool run_once(const Run& run) {
    const uint32_t before = landings;
    if (plan.start != nullptr) plan.start();
    const char* wrong = make_call(run);
    for (unsigned turns = 0; turns < 100000 && landings == before; ++turns) {
        hal::fetch_barrier();
    }
    if (landings != before + 1) complain(run, "not one interrupt");
    if (wrong != nullptr) complain(run, wrong);
    wrong = plan.finish != nullptr ? plan.finish(run) : nullptr;
    if (wrong != nullptr) complain(run, wrong);
    if (nopscope::hooked_return_address(0) != 0) complain(run, "a call is still open");
    note_landing();
    return landed_after;
}

// Runs each phase. True: all interrupts came after the call.
bool all_after(unsigned phases, const Run& run, unsigned& runs) {
    bool after = true;
    for (unsigned phase = 0; phase < phases; ++phase, ++runs) {
        torture_phase = phase;
        after = run_once(run) && after;
    }
    return after;
}

// Runs with each delay from 1 tick on, in each phase, until all interrupts of a delay come after
// the call. Returns how many runs; 0: this never happened.
unsigned sweep_delays(const Run& run) {
    constexpr unsigned max_delay = 5000;
    // The wait for a tick ends within 3 instructions of it: more than a tick.
    const auto tick = static_cast<unsigned>(1000000000 / hal::clock_hz());
    const unsigned phases = tick == 1 ? 1 : tick + 12;
    if (phases > max_phase) hal::panic("sweep: the clock is too slow for the NOPs there are");
    unsigned runs = 0;
    for (unsigned delay = 1; delay < max_delay; ++delay) {
        torture_delay = delay;
        if (all_after(phases, run, runs)) return runs;
    }
    return 0;
}

void report_hits(const Path& path) {
    if (path.length() > Path::max_length) hal::panic("sweep: a path is too long");
    unsigned hit = 0, executed = 0;
    for (const char* at = path.begin; at < path.end; at += instruction_bytes(at)) {
        if (is_off_path(at)) continue;
        const auto offset = static_cast<unsigned>(at - path.begin);
        const bool is_hit = path.hits[offset / instruction_alignment] != 0;
        ++executed;
        hit += is_hit;
        if (!is_hit) complain("%s+%#x was never hit", path.name, offset);
    }
    printf("sweep: %s: interrupted at %u of %u instructions\n", path.name, hit, executed);
}

}  // namespace

void complain(const Run& run, const char* what) {
    complain("%s%s, delay %lu + %lu, interrupt at %#lx: %s", run.callee.name,
             run.abandoned ? " after a longjmp" : "", torture_delay, torture_phase, landed_at,
             what);
}

const char* make_call(const Run& run) { return run_inside(call_once, run); }

nopscope::Config silent_config(const char* image) {
    nopscope::Config config = board_config(image);
    config.output = {image::swallow, nullptr};
    config.mode = nopscope::Mode::lossless;
    config.panic = hal::panic;
    return config;
}

void start_sweep(const SweepPlan& given) {
    plan = given;
    hal::set_return_hook(
        {nopscope::is_return_hook, nopscope::hooked_return_address_of, nopscope::is_entry_code});
    hal::set_handler(hal::timer_interrupt, 8, plan.handler);
    start_other_task();
    hal::enable_interrupts();
}

void sweep_all(const char* name, bool hooked) {
    callees_hooked = hooked;
    for (const Callee& callee : plan.callees) {
        for (const bool abandoned : {false, true}) {
            const Run run{callee, abandoned};
            torture_delay = 0;
            if (plan.prepare != nullptr) plan.prepare(run);
            const unsigned runs = sweep_delays(run);
            if (runs == 0) complain(run, "the interrupt never came after the call");
            printf("sweep: %s, %s%s: %u runs\n", name, callee.name,
                   abandoned ? " after a longjmp" : "", runs);
        }
    }
    torture_delay = 0;
}

int end_sweep(const char* image) {
    must(nopscope::disable(Sites::all()));
    hal::disable_interrupts();
    for (const Path& path : plan.paths) report_hits(path);
    expect_nothing_lost();
    printf("sweep: %u landings\n", static_cast<unsigned>(landings));
    return end(image);
}

}  // namespace torture
