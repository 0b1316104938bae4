// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: tells the tracer that calls end here without a return.
#pragma once

#include "tracer/arch/riscv64/recorder.h"

// Stores the current position and time for unwind() (shadow_stack.hpp). If an interrupt records
// before unwind() runs, the note is void. Goes to \untraced if this core does not record. Changes
// t3, t5. told_before (path_lengths.hpp) is the number of instructions up to the reading of
// the clock, told_after the number behind it.
.macro report_leaving untraced
    beqz    tp, \untraced
    ld      t3, (tp)
    read_clock t5
    sd      t3, CORE_LEFT(tp)
    sd      t5, CORE_LEFT + 8(tp)
.endm
