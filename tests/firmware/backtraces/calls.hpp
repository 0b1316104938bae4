// SPDX-License-Identifier: Apache-2.0
// Calls of all kinds that a backtrace may contain, and the places where a debugger stops.
#pragma once

#include <cstdint>

extern "C" {

// A debugger's breakpoint is here. Not traced. `place`: the number of the place.
void stopped(unsigned place);
// Runs begin_task() on the task's stack, in its context.
void run_task();

// Makes all calls once, traced. `n`: a number that gdb reads from those frames that have it.
unsigned begin(unsigned n);
// Runs on the task's stack.
void begin_task();
// Runs for ever on the second core.
void begin_core();
void on_interrupt(unsigned interrupt);
}
