// SPDX-License-Identifier: Apache-2.0
// Functions with an exactly known number of instructions.

#include "tests/firmware/traced.h"
    .arch armv8-a

// void name(uint64_t rounds): 4 instructions, 3 for each round, and `tail`.
.macro loop name, tail, landing_pad=1
    traced  \name, \landing_pad
1:  nop
    subs    x0, x0, #1
    b.ne    1b
    .rept   \tail
    nop
    .endr
    ret
    .size   \name, . - \name
.endm

loop counts_loop, 0
loop counts_loop_odd, 5
loop counts_loop_local, 0, landing_pad=0
