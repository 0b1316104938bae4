// SPDX-License-Identifier: Apache-2.0
// The sweep: a traced interrupt on every instruction of both trampolines and of the return hook,
// one run each. For every way to call and for both recorders, a call with a known value in every
// register is made again and again, each time with the virtual timer set one instruction later,
// until the interrupt comes after the call. Each time the registers, inside and after, and the
// shadow stack must be right; at the end every instruction must have been hit.
//
// Needs -icount shift=0, where an instruction takes one nanosecond and a timer interrupt is exact.
// A tick is 1e9 / clock_hz() instructions; NOPs shift the call within it.
#include "firmware/torture/registers.hpp"
#include "firmware/torture/torture.hpp"
#include "hal/hal.hpp"
#include "tracer/nopscope.hpp"

#include <setjmp.h>
#include <stdio.h>

// The hot paths, labels in tracer/arm64/recorders.S.
extern "C" const char nopscope_function_entry[], nopscope_function_entry_end[],
    nopscope_graph_entry[], nopscope_graph_entry_end[], nopscope_return_hook[],
    nopscope_return_hook_end[];

namespace hal = nopscope::hal;

namespace torture {

extern volatile uint64_t landed_at;
extern volatile uint32_t landings;
extern volatile bool landed_after;
void on_landing(unsigned interrupt);
void leap(unsigned depth, jmp_buf back);
uint64_t dig(unsigned depth);
const char* run_inside(const char* (*run)(const void*), const void* argument);

volatile uint32_t interrupts[4];
void toggle() {}

namespace {

using nopscope::Recorder;
using nopscope::Sites;

volatile unsigned failures;
constexpr bool both[] = {false, true};
constexpr unsigned max_delay = 5000;

struct Path {
    const char* name;
    const char* begin;
    const char* end;
    Recorder recorder;
    uint32_t hits[128];

    unsigned length() const { return static_cast<unsigned>(end - begin) / 4; }
    unsigned hit() const {
        unsigned count = 0;
        for (unsigned n = 0; n < length(); ++n) count += hits[n] != 0;
        return count;
    }
};
Path paths[] = {
    {"function_entry",
     nopscope_function_entry,
     nopscope_function_entry_end,
     Recorder::function,
     {}},
    {"graph_entry", nopscope_graph_entry, nopscope_graph_entry_end, Recorder::graph, {}},
    {"return_hook", nopscope_return_hook, nopscope_return_hook_end, Recorder::graph, {}},
};

struct Callee {
    const char* name;
    void (*function)();
};
constexpr Callee callees[] = {
    {"landing", torture_landing},
    {"tail", torture_tail},
    {"nested", torture_nested},
    {"leaping", torture_leaping},
};

bool within(uint64_t address, const char* begin, const char* end) {
    return address >= reinterpret_cast<uint64_t>(begin) &&
           address < reinterpret_cast<uint64_t>(end);
}

void note_landing() {
    for (Path& path : paths) {
        if (within(landed_at, path.begin, path.end)) {
            ++path.hits[(landed_at - reinterpret_cast<uint64_t>(path.begin)) / 4];
        }
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
    if (wrong == nullptr && nopscope::hooked_return_address(1) != 0)
        return "a skipped call is open";
    return wrong;
}

// One call with one interrupt. True when the interrupt came after the call.
bool run_once(const Callee& callee, bool abandoned) {
    const uint32_t before = landings;
    const Run run{callee, abandoned};
    const char* wrong = run_inside(call_once, &run);
    for (unsigned turns = 0; turns < 100000 && landings == before; ++turns) {
        asm volatile("isb" ::: "memory");
    }
    if (landings != before + 1) complain(callee, "not one interrupt");
    if (wrong != nullptr) complain(callee, wrong);
    if (nopscope::hooked_return_address(0) != 0) complain(callee, "a call is still open");
    note_landing();
    return landed_after;
}

// Every delay from 1 tick until one whose interrupts, in every phase, come after the call.
unsigned sweep(const Callee& callee, bool abandoned, unsigned phases) {
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

void sweep_all(Recorder recorder, const char* name, unsigned phases) {
    if (nopscope::enable(recorder, Sites::all()) != nopscope::Status::ok) {
        hal::panic("sweep: enable failed");
    }
    for (const Callee& callee : callees) {
        for (const bool abandoned : both) {
            const unsigned runs = sweep(callee, abandoned, phases);
            printf("sweep: %s, %s%s: %u runs\n", name, callee.name,
                   abandoned ? " after a longjmp" : "", runs);
        }
    }
}

void report(const Path& path) {
    printf("sweep: %s: interrupted at %u of %u instructions\n", path.name, path.hit(),
           path.length());
    for (unsigned n = 0; n < path.length(); ++n) {
        if (path.hits[n] != 0) continue;
        printf("sweep: %s+%#x was never hit\n", path.name, 4 * n);
        failures = failures + 1;
    }
}

nopscope::Config config() {
    const auto stack = hal::stack_bounds();
    nopscope::Config config;
    config.image = "sweep";
    config.board = hal::board_name();
    config.clock_hz = hal::clock_hz();
    config.output = {hal::uart_try_write, hal::uart_drain};
    config.stack_low = stack.low;
    config.stack_high = stack.high;
    config.mode = nopscope::Mode::lossless;
    return config;
}

int run() {
    const nopscope::Status status = nopscope::init(config());
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    hal::set_console({nopscope::console_write, nopscope::enter_panic});
    hal::set_return_hook({nopscope::return_hook_address(), nopscope::hooked_return_address});
    hal::set_handler(hal::virtual_timer_interrupt, 8, on_landing);
    hal::enable_interrupts();

    // The wait for a tick ends within 3 instructions of it: that much more than a tick's length.
    const auto tick = static_cast<unsigned>(1000000000 / hal::clock_hz());
    const unsigned phases = tick == 1 ? 1 : tick + 12;
    if (phases > max_phase) hal::panic("sweep: the clock is too slow for the NOPs there are");
    sweep_all(Recorder::function, "function", phases);
    sweep_all(Recorder::graph, "graph", phases);

    torture_delay = 0;
    if (nopscope::disable(Sites::all()) != nopscope::Status::ok)
        hal::panic("sweep: disable failed");
    hal::disable_interrupts();
    for (const Path& path : paths) report(path);
    const nopscope::Counters counters = nopscope::counters();
    if (counters.dropped + counters.unhooked + counters.foreign != 0) {
        printf("sweep: dropped %lu, unhooked %lu, foreign %lu: must be 0\n",
               static_cast<unsigned long>(counters.dropped),
               static_cast<unsigned long>(counters.unhooked),
               static_cast<unsigned long>(counters.foreign));
        failures = failures + 1;
    }
    printf("sweep: %s: %u landings, %u failures\n", failures == 0 ? "passed" : "FAILED",
           static_cast<unsigned>(landings), failures);
    fflush(stdout);
    nopscope::finish();
    return failures == 0 ? 0 : 1;
}

}  // namespace

void fail(const char* file, unsigned line) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("sweep: an invariant failed, %s:%u\n", file, line);
}

}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
