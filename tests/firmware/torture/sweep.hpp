// SPDX-License-Identifier: Apache-2.0
// The sweep: a traced interrupt on every instruction of what a traced call goes through, one run each.
// For every way to call, a call with a known value in every register is made again and again, each
// time with the virtual timer set one instruction later, until the interrupt comes after the call.
// Each time the registers, inside and after, and the shadow stack must be right; at the end every
// instruction of the tracer's paths must have been hit.
//
// Needs -icount shift=0, where an instruction takes one nanosecond and a timer interrupt is exact.
// A tick is 1e9 / clock_hz() instructions; NOPs shift the call within it.
#pragma once

#include <stdint.h>

#include <span>

#include "nopscope/nopscope.hpp"

namespace torture {

// Code between two labels, every instruction of which must be hit.
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
    unsigned calls = 0;  // traced ones of each call, its own included, where that is checked
};
inline constexpr unsigned max_callees = 8;

struct SweepPlan {
    Path* paths;
    unsigned path_count;
    const Callee* callees;
    unsigned callee_count;
    // Before and after each run, interrupt included; `finish` says what is wrong, or null. May be null.
    void (*start)();
    const char* (*finish)(const Callee& callee, bool abandoned);
};

// Traced calls of a run beside the callee's, and of its interrupt.
inline constexpr unsigned run_calls = 1 + 7, abandoned_calls = 3, interrupt_calls = 10;

// Once, after nopscope::init().
void start_sweep(const SweepPlan& plan);
// Every callee, after a call that returned and after one that a longjmp abandoned. `hooked`: the
// callees are traced by the graph recorder.
void sweep_all(const char* name, bool hooked);
// Prints what was hit; returns what failed so far. With the timer off.
unsigned end_sweep();

// ---- sweep_parts.cpp ---------------------------------------------------------------------------------

// Leaves three frames on the shadow stack, far below the next call's SP, for that call to find.
void abandon_frames();
// Uses the shadow stack's next frames for calls far below the next call's SP, and releases them: what
// they leave behind in a frame that is published but not written yet must not be taken for a call that
// was skipped.
void use_frames();
// run(argument) for every delay from 1 tick until one whose interrupts, in every phase, come after the
// call, which it returns. How many runs; 0: none did.
unsigned sweep_delays(bool (*run)(const void*), const void* argument);
void note_landing(std::span<Path> paths);
// Prints what was hit; returns how many instructions were not.
unsigned report_hits(const char* image, std::span<const Path> paths);

// ---- sweep_handler.cpp ------------------------------------------------------------------------------

extern volatile uint64_t landed_at;
extern volatile uint32_t landings;
extern volatile bool landed_after;  // the call had returned
void on_landing(unsigned interrupt);

}  // namespace torture
