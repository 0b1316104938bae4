// SPDX-License-Identifier: Apache-2.0
// Ways to end in the exception reporter, each three calls deep. tests/target checks the report.
#include <cstdio>
#include <cstring>

#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/return_ops.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/core_tests.hpp"
#include "tests/firmware/selftest/crash.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"
#include "tests/firmware/selftest/traced.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

// The expected backtraces have these names. This file is compiled without tail calls, which would
// have no frame.
extern "C" {

static void crash_read_null() { static_cast<void>(*static_cast<volatile int*>(nullptr)); }

static volatile unsigned endless = ~0u;

// The array stops the compiler from making this a loop.
[[gnu::noinline]] static unsigned crash_overflow(unsigned depth) {
    volatile unsigned room[64];
    room[depth % 64] = depth;
    if (depth == endless) return 0;
    return crash_overflow(depth + 1) + room[(depth + 1) % 64];
}
static void crash_stack() { crash_overflow(0); }

static void crash_panic() { hal::panic("asked for"); }

static void crash_handler(unsigned) { selftest_undefined(); }
[[gnu::always_inline]] static inline void take_interrupt(hal::Handler handler) {
    hal::disable_interrupts();
    hal::set_handler(0, 8, handler);
    hal::raise_interrupt(0);
    hal::unmask_interrupts();
    asm volatile("nop\n\tnop" ::: "memory");  // the interrupt comes here
}
static void crash_interrupt() { take_interrupt(crash_handler); }
static void crash_no_handler() { take_interrupt(nullptr); }

// A console that faults, and then the reporter that uses it.
static void faulting_sink(const char*, std::size_t) { crash_read_null(); }
static void crash_reporter() {
    hal::set_console({.write = faulting_sink, .enter_panic = nullptr});
    selftest_undefined();
}

// Core 1, or all other cores at once: one report. The boot core waits here for ever.
static void wait_for_others(void (*start)(Job), Job job) {
    start_workers();
    start(job);
    for (;;) hal::wait_for_interrupt();
}
static void on_core_1(Job job) { on_core(1, job); }
static void crash_worker(unsigned) { crash_read_null(); }
static void crash_core() { wait_for_others(on_core_1, crash_worker); }
static void crash_cores() { wait_for_others(on_other_cores, crash_worker); }
// Another core ends the machine while the boot core has interrupts masked.
static void crash_exit() {
    const Job ends = [](unsigned) {
        hal::print("core 1 exits\n");
        hal::exit(1);
    };
    wait_for_others([](Job job) { hal::disable_interrupts(), on_core_1(job); }, ends);
}

// Return addresses are hooks: of a recorder only; of two ops' callbacks and a recorder; and of
// callbacks only, in a function without a frame.
static void no_exit(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*) {}
static void hook_everything() {
    static ReturnOps first(nullptr, no_exit);
    static ReturnOps second(nullptr, no_exit);
    static const void* const no_frame[] = {pointer(calls_back), pointer(breaks),
                                           pointer(breaks_in_frame)};
    static const void* const tail[] = {pointer(calls_back), pointer(jumps_back)};
    const bool done = tracer_is_up() && is_ok(attach(first, Sites::of(back_only))) &&
                      is_ok(attach(second, Sites::of(no_frame))) &&
                      is_ok(enable(Recorder::graph, Sites::of(tail)));
    hal::set_return_hook({is_return_hook, hooked_return_address_of, is_entry_code});
    if (!done) hal::panic("not traced");
}
static void crash_deeper() { breaks(); }
[[gnu::optimize("optimize-sibling-calls")]] static void crash_in_tail() {
    jumps_back(crash_deeper);
}
[[gnu::noinline]] static void crash_hooked() {
    hook_everything();
    calls_back(crash_in_tail);
}
// The return address is a hook here, too, but this function has a frame.
[[gnu::noinline]] static void crash_hooked_in_frame() {
    hook_everything();
    calls_back([] { breaks_in_frame(); });
}
// The tracer itself faults at a function's entry, because its register is an invalid core pointer.
static void crash_entry_inside() {
    lose_current_core();
    jumps_back(crash_deeper);
}
[[gnu::noinline]] static void crash_entry() {
    hook_everything();
    calls_back(crash_entry_inside);
}

[[gnu::noinline]] static void crash_inner(void (*way)()) { way(); }
[[gnu::noinline]] static void crash_outer(void (*way)()) { crash_inner(way); }
}

static constexpr CrashCase cases[] = {
    {"undefined", selftest_undefined},
    {"brk", selftest_brk},
    {"registers", selftest_known_registers},
    {"read-null", crash_read_null},
    {"stack", crash_stack},
    {"panic", crash_panic},
    {"interrupt", crash_interrupt},
    {"no-handler", crash_no_handler},
    {"reporter", crash_reporter},
    {"hooked", crash_hooked},
    {"hooked-in-frame", crash_hooked_in_frame},
    {"entry", crash_entry},
    {"core", crash_core},
    {"cores", crash_cores},
    {"core-exit", crash_exit},
};

void selftest::crash(const char* name) {
    for (const std::span<const CrashCase> list :
         {std::span<const CrashCase>(cases), more_crashes}) {
        for (const CrashCase& one : list) {
            if (std::strcmp(name, one.name) != 0) continue;
            std::fflush(stdout);
            crash_outer(one.way);
        }
    }
}
