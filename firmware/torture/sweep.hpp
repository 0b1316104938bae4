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

#include "tracer/nopscope.hpp"

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
    unsigned calls;  // traced ones of each call, its own included
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

// ---- sweep_handler.cpp ------------------------------------------------------------------------------

extern volatile uint64_t landed_at;
extern volatile uint32_t landings;
extern volatile bool landed_after;  // the call had returned
void on_landing(unsigned interrupt);

}  // namespace torture
