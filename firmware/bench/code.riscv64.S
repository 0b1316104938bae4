// SPDX-License-Identifier: Apache-2.0
// Code that must have the same instructions with every compiler.

#include "firmware/function.h"

    .text

// void bench_loop(void (*function)(), uint64_t calls): calls the function `calls` times.
function bench_loop
    addi    sp, sp, -32
    sd      ra, 24(sp)
    sd      s0, 16(sp)
    sd      s1, 8(sp)
    mv      s0, a0
    mv      s1, a1
1:  jalr    s0
    addi    s1, s1, -1
    bnez    s1, 1b
    ld      ra, 24(sp)
    ld      s0, 16(sp)
    ld      s1, 8(sp)
    addi    sp, sp, 32
    ret
end_of bench_loop

// An empty function without a patch site.
function bench_plain
    ret
end_of bench_plain

// A callback that does nothing.
function bench_empty_callback
    ret
end_of bench_empty_callback

// The smallest direct entry. In, Out, Free: see tracer/include/nopscope/ops.hpp.
    .globl bench_empty_direct
    .balign 64
bench_empty_direct:
    jr      t0
