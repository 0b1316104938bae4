// SPDX-License-Identifier: Apache-2.0
// Calls of every kind that a backtrace may have to go through, and the places where a debugger stops.
#pragma once

#include <cstdint>

extern "C" {

// A debugger's breakpoint is here. Not traced. `place`: which one it is.
void stopped(unsigned place);
// Runs begin_task() on the task's stack, with its context.
void run_task();

// All of them in turn, traced. `n`: some number, which gdb reads from the frames that have it.
unsigned begin(unsigned n);
// On the task's stack.
void begin_task();
// For ever, on the second core.
void begin_core();
void on_interrupt(unsigned interrupt);

}
