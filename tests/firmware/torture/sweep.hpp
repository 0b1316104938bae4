// SPDX-License-Identifier: Apache-2.0
// The sweep: a traced interrupt on each instruction that a traced call executes, one in each run.
// For each way to call, it repeats a call with a known value in every register. Each time the
// timer is one instruction later, until the interrupt comes after the call. In each run the
// registers (in the function and after it) and the shadow stack must be right. At the end all
// instructions of the tracer's paths must have been hit.
//
// Needs -icount shift=0, where an instruction takes one nanosecond and a timer interrupt is exact.
// A tick is 1e9 / clock_hz() instructions; NOPs shift the call within it.
//
// tasks=1: each interrupt switches to another task at its end. That task makes traced calls and
// switches back.
//
// lowest=1: the call is the lowest on its stack so far, as in a task that is new.
#pragma once

#include <setjmp.h>
#include <stdint.h>

#include <span>

#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/torture.hpp"

namespace torture {

namespace hal = nopscope::hal;
using image::must;
using nopscope::Recorder;
using nopscope::Sites;

// Code between two labels. An interrupt must come at each of its instructions. A library that
// defers interrupts takes it elsewhere.
struct Path {
    static constexpr unsigned max_length = 1024 / instruction_alignment;
    const char* name;
    const char* begin;
    const char* end;
    uint32_t hits[max_length] = {};

    unsigned length() const { return static_cast<unsigned>(end - begin) / instruction_alignment; }
};
// The path from `nopscope_NAME` to `nopscope_NAME_end`, labels in tracer/arch/NAME.
#define SWEEP_PATH(NAME) SWEEP_BETWEEN(#NAME, NAME, NAME##_end)
#define SWEEP_BETWEEN(TEXT, BEGIN, END)                                                           \
    [] {                                                                                          \
        extern const char at_##BEGIN[] asm("nopscope_" #BEGIN), at_##END[] asm("nopscope_" #END); \
        return Path{TEXT, at_##BEGIN, at_##END};                                                  \
    }()

struct Callee {
    const char* name;
    void (*function)();
    unsigned calls = 0;  // traced calls of one call, including its own; if checked
};
// For recorders that trace all of these.
inline constexpr Callee register_callees[] = {
    {"landing", torture_landing, 1}, {"tail", torture_tail, 2},   {"nested", torture_nested, 2},
    {"leaping", torture_leaping, 3}, {"chain", torture_chain, 3},
};

// A call after a call that returned, or after one that longjmp abandoned.
struct Run {
    const Callee& callee;
    bool abandoned;
};

void on_landing(unsigned interrupt);  // instrumented; so is sweep_handler.cpp's rest below
struct SweepPlan {
    std::span<Path> paths;
    std::span<const Callee> callees;
    // Before and after each run with its interrupt; may be null. `finish`: an error, or null.
    void (*start)() = nullptr;
    const char* (*finish)(const Run& run) = nullptr;
    // Before all runs of a callee; may be null.
    void (*prepare)(const Run& run) = nullptr;
    void (*handler)(unsigned interrupt) = on_landing;
};

// How many traced calls a run makes besides the callee's, and how many its interrupt makes.
inline constexpr unsigned run_calls = 1 + 7, abandoned_calls = 3, interrupt_calls = 10;

// For sweeps whose recording nobody reads: drops the line's bytes.
nopscope::Config silent_config(const char* image);
// Call it once, after nopscope::init().
void start_sweep(const SweepPlan& plan);
// Sweeps each callee, after a call that returned and after one that longjmp abandoned. `hooked`:
// a recorder hooks the callees.
void sweep_all(const char* name, bool hooked);
// Makes the call, in a traced call that must be the only one that is open afterwards. Returns what
// is wrong with registers or shadow stack; or null.
const char* make_call(const Run& run);
void complain(const Run& run, const char* what);
// Traces nothing, prints which instructions were hit, and returns the image's exit status.
int end_sweep(const char* image = "sweep");

// ---- sweep_handler.cpp ----

extern volatile uint64_t came_at;    // where the interrupt came
extern volatile uint64_t landed_at;  // where it was taken: only elsewhere if it was deferred
extern volatile uint32_t landings;
extern volatile bool landed_after;    // after the call's return
extern volatile uint64_t landing_sp;  // in a call of the interrupt's handler
extern uint32_t task_calls;           // of the other task in each run; 0: there is none
extern bool calls_are_lowest;
void start_other_task();  // if the command line asks for it; and sets calls_are_lowest
void on_profile_landing(unsigned interrupt);  // on_landing, then calls shared()
void shared();
// Opens depth + 1 calls, and calls `then` in the innermost. Returns depth.
uint64_t deep(unsigned depth, void (*then)());
// Opens depth + 1 calls, and leaves them by longjmp.
void leap(unsigned depth, jmp_buf back);
// Calls run(argument). When it returns, all frames above its own must be gone.
const char* run_inside(const char* (*run)(const Run&), const Run& argument);

}  // namespace torture
