// SPDX-License-Identifier: Apache-2.0
// Empty functions, and loops that call them: calibration.cpp measures these loops. Each function is
// a site that one recorder traces. No site table has them: nothing patches or counts them.
//
// A pause precedes each call. It has 16 lengths, which differ by 3 instructions. So calls begin
// evenly spread over the ticks of a clock that is slower than the CPU by a power of two up to 16,
// whatever the loop's length is. Then the counts of ticks add up to the true time.

#include "tracer/arch/arm64/recorder.h"

    .arch armv8-a

    .text

// uint64_t name(void (*function)(), uint64_t calls): returns the ticks that this many calls take,
// between two readings of the clock. In, Out, Free: AAPCS.
.macro loop name, call:vararg
function \name
    hint    #34                         // bti c
    stp     x29, x30, [sp, #-48]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    str     x21, [sp, #32]
    mov     x19, x0
    mov     x20, x1
    isb
    read_clock x21
1:  and     x9, x20, #15
2:  nop
    subs    x9, x9, #1
    b.pl    2b
    \call
    subs    x20, x20, #1
    b.ne    1b
    isb
    read_clock x0
    sub     x0, x0, x21
    ldr     x21, [sp, #32]
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #48
    ret
end_of \name
.endm

loop nopscope_calibrate_calls, blr x19
loop nopscope_calibrate_local_calls, bl nopscope_calibrated_local
loop nopscope_calibrate_no_calls, nop

// void name(): a site, with a landing pad or without, its toggling word, and an empty body.
.macro site name, landing_pad, word:vararg
    .balign 64
    .skip   56
    .quad   nopscope_calibration_ops
    .globl  \name
    .type   \name, %function
\name:
    .if \landing_pad
    hint    #34
    .endif
    add     x9, x30, #0                 // not MOV, or `nopscope check` would miss it in the table
    \word
    ret
    .size   \name, . - \name
.endm

site nopscope_calibrated_none, 1, nop
site nopscope_calibrated_local, 0, nop
site nopscope_calibrated_function, 1, bl nopscope_function_entry
site nopscope_calibrated_graph, 1, bl nopscope_graph_entry
site nopscope_calibrated_profile, 1, bl nopscope_profile_entry
site nopscope_calibrated_duration, 1, bl nopscope_duration_entry
site nopscope_calibrated_sampled, 1, bl nopscope_sampled_entry
