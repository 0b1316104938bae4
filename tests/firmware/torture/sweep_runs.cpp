// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/sweep.hpp"
#include "tests/firmware/torture/torture.hpp"

#include <stdio.h>

namespace hal = nopscope::hal;

namespace torture {

namespace {

volatile unsigned failures;

SweepPlan plan;
bool callees_hooked;

void complain(const Callee& callee, const char* what) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("sweep: %s, delay %lu + %lu, interrupt at %#lx: %s\n", callee.name,
           static_cast<unsigned long>(torture_delay), static_cast<unsigned long>(torture_phase),
           static_cast<unsigned long>(landed_at), what);
}

struct Run {
    const Callee& callee;
    bool abandoned;
};

// What is wrong with registers or shadow stack; or null. Runs in a traced call, the only one that
// may be open after the checked call.
const char* call_once(const void* argument) {
    const Run& run = *static_cast<const Run*>(argument);
    use_frames();
    if (run.abandoned) abandon_frames();
    torture_returned.sp = 0;
    forget_lowest();
    const char* wrong = check_registers(run.callee.function, torture_delay, 0);
    if (wrong == nullptr && callees_hooked) wrong = check_lowest();
    if (wrong == nullptr && callees_hooked && nopscope::hooked_return_address(1) != 0)
        return "a skipped call is open";
    return wrong;
}

// One call with one interrupt. True: the interrupt came after the call.
bool run_once(const void* argument) {
    const auto& [callee, abandoned] = *static_cast<const Run*>(argument);
    const uint32_t before = landings;
    if (plan.start != nullptr) plan.start();
    const char* wrong = run_inside(call_once, argument);
    for (unsigned turns = 0; turns < 100000 && landings == before; ++turns) {
        asm volatile("isb" ::: "memory");
    }
    if (landings != before + 1) complain(callee, "not one interrupt");
    if (wrong != nullptr) complain(callee, wrong);
    wrong = plan.finish != nullptr ? plan.finish(callee, abandoned) : nullptr;
    if (wrong != nullptr) complain(callee, wrong);
    if (nopscope::hooked_return_address(0) != 0) complain(callee, "a call is still open");
    note_landing(plan.paths);
    return landed_after;
}

}  // namespace

nopscope::Config silent_config(const char* image) {
    nopscope::Config config = board_config(image);
    config.output = {image::swallow, nullptr};
    config.mode = nopscope::Mode::lossless;
    config.panic = hal::panic;
    return config;
}

void must(nopscope::Status status, const char* what) {
    if (status == nopscope::Status::ok) return;
    printf("sweep: %s: ", what);
    hal::panic(nopscope::describe(status));
}

void start_sweep(const SweepPlan& given) {
    plan = given;
    hal::set_return_hook(
        {nopscope::is_return_hook, nopscope::hooked_return_address_of, nopscope::is_entry_code});
    hal::set_handler(hal::virtual_timer_interrupt, 8, on_landing);
    start_other_task();
    hal::enable_interrupts();
}

void sweep_all(const char* name, bool hooked) {
    callees_hooked = hooked;
    for (const Callee& callee : plan.callees) {
        for (const bool abandoned : {false, true}) {
            const Run run{callee, abandoned};
            const unsigned runs = sweep_delays(run_once, &run);
            if (runs == 0) complain(callee, "the interrupt never came after the call");
            printf("sweep: %s, %s%s: %u runs\n", name, callee.name,
                   abandoned ? " after a longjmp" : "", runs);
        }
    }
    torture_delay = 0;
}

unsigned end_sweep() {
    hal::disable_interrupts();
    failures = failures + report_hits("sweep", plan.paths);
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
