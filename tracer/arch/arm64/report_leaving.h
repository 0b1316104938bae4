// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: tells the tracer that calls end here without a return.
#pragma once

#include "tracer/arch/arm64/recorder.h"

// Stores the current position and time for unwind() (shadow_stack.hpp). If an interrupt records
// before unwind() runs, the note is void. Goes to \untraced if this core does not record. Out: x10
// core. Changes x11, x12. At the begin of a function that has a landing pad before it: told_before
// is the number of instructions up to the reading of the clock, told_after the number behind it.
.macro report_leaving untraced
    mrs     x10, NOPSCOPE_TPIDR
    cbz     x10, \untraced
    ldr     x11, [x10]
    read_clock x12
    stp     x11, x12, [x10, #CORE_LEFT]
.endm
