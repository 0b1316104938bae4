// SPDX-License-Identifier: Apache-2.0
// Empty functions, each as a site that one recorder traces, and loops to call them in: what
// calibration.cpp measures. They are in no table: nobody can patch them, nothing counts them.
//
// The pause before each call is longer by 3 instructions each time, up to 45. So, whatever the loop's
// length, calls begin evenly spread over the ticks of a clock that is slower than the CPU by a power of two
// up to 16, and the counts of ticks add up to the true time.

#include "tracer/arch/arm64/recorder.h"

    .arch armv8-a

    .text

// uint64_t name(void (*function)(), uint64_t calls): the ticks that so many calls take, less a clock
// reading. In, Out, Free: AAPCS.
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

// void name(): a site, with a landing pad or without, its toggling word, and nothing behind it.
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
