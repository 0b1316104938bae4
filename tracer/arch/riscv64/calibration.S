// SPDX-License-Identifier: Apache-2.0
// Empty functions, and loops that call them: calibration.cpp measures these loops. Each function is
// a site that one recorder traces. No site table has them: nothing patches or counts them.
//
// A pause precedes each call. It has 16 lengths, which differ by 3 instructions. So calls begin
// evenly spread over the ticks of a clock that is slower than the CPU by a power of two up to 16,
// whatever the loop's length is. Then the counts of ticks add up to the true time.

#include "tracer/arch/riscv64/recorder.h"

    .text

// uint64_t name(void (*function)(), uint64_t calls): returns the ticks that this many calls take,
// between two readings of the clock. In, Out, Free: the psABI's.
.macro loop name, call:vararg
function \name
    addi    sp, sp, -48
    sd      ra, 40(sp)
    sd      s0, 32(sp)
    sd      s1, 24(sp)
    sd      s2, 16(sp)
    addi    s0, sp, 48
    mv      s1, a0
    mv      s2, a1
    read_clock t3
    sd      t3, 8(sp)
1:  andi    t3, s2, 15
2:  nop
    addi    t3, t3, -1
    bgez    t3, 2b
    \call
    addi    s2, s2, -1
    bnez    s2, 1b
    read_clock a0
    ld      t3, 8(sp)
    sub     a0, a0, t3
    ld      ra, 40(sp)
    ld      s0, 32(sp)
    ld      s1, 24(sp)
    ld      s2, 16(sp)
    addi    sp, sp, 48
    ret
end_of \name
.endm

loop nopscope_calibrate_calls, jalr s1
loop nopscope_calibrate_local_calls, call nopscope_calibrated_none
loop nopscope_calibrate_no_calls, nop

// void name(): a site, its toggling word, and an empty body. \stub: the number of its stub.
.macro site name, stub
    .balign 64
    .skip   56
    .quad   nopscope_calibration_ops
    .globl  \name
    .type   \name, %function
\name:
    .option push
    .option norvc
.Lsite_\name:
    auipc   t1, %pcrel_hi(nopscope_stubs + 4 * (0\stub))    // not t0, or `nopscope check` would miss it in the table
.ifb \stub
    nop
.else
    jalr    t0, %pcrel_lo(.Lsite_\name)(t1)
.endif
    .option pop
    ret
    .size   \name, . - \name
.endm

site nopscope_calibrated_none
site nopscope_calibrated_function, 3
site nopscope_calibrated_graph, 4
site nopscope_calibrated_profile, 5
site nopscope_calibrated_duration, 6
site nopscope_calibrated_sampled, 7
