// SPDX-License-Identifier: Apache-2.0
// The sweep: a traced interrupt on each instruction that a traced call executes, one in each run.
// For each way to call, it repeats a call with a known value in every register. Each time the
// virtual timer is one instruction later, until the interrupt comes after the call. In each run the
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

#include "nopscope/nopscope.hpp"
#include "tests/firmware/torture/registers.hpp"

namespace torture {

// Code between two labels. An interrupt must come at each of its instructions. A library that
// defers interrupts takes it elsewhere.
struct Path {
    static constexpr unsigned max_length = 256;
    const char* name;
    const char* begin;
    const char* end;
    uint32_t hits[max_length] = {};

    unsigned length() const { return static_cast<unsigned>(end - begin) / 4; }
};

struct Callee {
    const char* name;
    void (*function)();
    unsigned calls = 0;  // traced calls of one call, including its own; if checked
};
// For recorders that trace all of these.
inline constexpr Callee register_callees[] = {
    {"landing", torture_landing, 1},
    {"tail", torture_tail, 2},
    {"nested", torture_nested, 2},
    {"leaping", torture_leaping, 3},
};

struct SweepPlan {
    std::span<Path> paths;
    std::span<const Callee> callees;
    // Before and after each run with its interrupt; may be null. `finish`: an error, or null.
    void (*start)() = nullptr;
    const char* (*finish)(const Callee& callee, bool abandoned) = nullptr;
};

// How many traced calls a run makes besides the callee's, and how many its interrupt makes.
inline constexpr unsigned run_calls = 1 + 7, abandoned_calls = 3, interrupt_calls = 10;

// For sweeps whose recording nobody reads: drops the line's bytes.
nopscope::Config silent_config(const char* image);
// Panics if a request fails.
void must(nopscope::Status status, const char* what);
// Call it once, after nopscope::init().
void start_sweep(const SweepPlan& plan);
// Sweeps each callee, after a call that returned and after one that longjmp abandoned. `hooked`:
// the graph recorder traces the callees.
void sweep_all(const char* name, bool hooked);
// Prints which instructions were hit, and returns the number of failures. The timer must be off.
unsigned end_sweep();

// ---- sweep_parts.cpp ----

// Leaves three frames on the shadow stack, far below the next call's SP. That call finds them.
void abandon_frames();
// Uses the next frames of the shadow stack for calls far below the next call's SP, and releases
// them. A frame that is published but not yet written then has old contents: these must not look
// like a call that was skipped.
void use_frames();
// With calls_are_lowest: makes the next hooked call the lowest on this stack. Afterwards: what is
// wrong with the lowest SP, or null.
void forget_lowest();
const char* check_lowest();
// Calls run(argument) for each delay from 1 tick on, in each phase, until all interrupts of a delay
// come after the call (run returns true). Returns how many runs; 0: this never happened.
unsigned sweep_delays(bool (*run)(const void*), const void* argument);
void note_landing(std::span<Path> paths);
// Prints which instructions were hit. Returns how many were not.
unsigned report_hits(const char* image, std::span<const Path> paths);

// ---- sweep_handler.cpp ----

extern volatile uint64_t came_at;    // where the interrupt came
extern volatile uint64_t landed_at;  // where it was taken: only elsewhere if it was deferred
extern volatile uint32_t landings;
extern volatile bool landed_after;    // after the call's return
extern volatile uint64_t landing_sp;  // in a call of the interrupt's handler
extern uint32_t task_calls;           // of the other task in each run; 0: there is none
extern bool calls_are_lowest;
void start_other_task();  // if the command line asks for it; and sets calls_are_lowest
// These are instrumented.
void on_landing(unsigned interrupt);          // the interrupt
void on_profile_landing(unsigned interrupt);  // the same, then calls shared()
void shared();
// Opens depth + 1 calls, and calls `then` in the innermost. Returns depth.
uint64_t deep(unsigned depth, void (*then)());
// Opens depth + 1 calls, and leaves them by longjmp.
void leap(unsigned depth, jmp_buf back);
// Calls run(argument). When it returns, all frames above its own must be gone.
const char* run_inside(const char* (*run)(const void*), const void* argument);

}  // namespace torture
