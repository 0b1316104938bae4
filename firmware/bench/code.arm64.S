// SPDX-License-Identifier: Apache-2.0
// Code that must have the same instructions with every compiler.

#include "firmware/function.h"

#define BTI_C   hint #34

    .arch armv8-a

    .text

// void bench_loop(void (*function)(), uint64_t calls): calls the function `calls` times.
function bench_loop
    BTI_C
    stp     x29, x30, [sp, #-32]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    mov     x19, x0
    mov     x20, x1
1:  blr     x19
    subs    x20, x20, #1
    b.ne    1b
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #32
    ret
end_of bench_loop

// An empty function without a patch site.
function bench_plain
    BTI_C
    ret
end_of bench_plain

// A callback that does nothing.
function bench_empty_callback
    BTI_C
    ret
end_of bench_empty_callback

// The smallest direct entry. In, Out, Free: see tracer/include/nopscope/ops.hpp. Only BL and RET
// jump here, so it has no landing pad and no function type.
    .globl bench_empty_direct
    .balign 64
bench_empty_direct:
    mov     x10, x30
    mov     x30, x9
    ret     x10

// A trampoline for one ops, like those that other architectures generate. dynamic.cpp copies it for
// each ops and fills in its three literals. It saves what the common trampoline saves, and has its
// own guard. In: x30 the body, x9 the return address. Out: x30 the return address, at the body.
// Free: x9-x17. Frame: Regs and the guard, 128 bytes.
    .balign 8
    .globl bench_dynamic_template
bench_dynamic_template:
    ldr     x12, .Lguard
    ldr     x13, [x12]
    cbz     x13, .Lrecursion
    str     xzr, [x12]
    sub     sp, sp, #128
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x29, [sp, #64]
    and     x11, x30, #~7
    add     x10, sp, #128
    stp     x9, x10, [sp, #80]
    stp     x30, x13, [sp, #96]
    sub     x0, x11, #8
    mov     x1, x9
    ldr     x2, .Lops
    mov     x3, sp
    ldr     x10, .Lfunc
    blr     x10
    ldp     x10, x13, [sp, #96]
    ldr     x12, .Lguard
    str     x13, [x12]
    ldp     x0, x1, [sp]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x29, [sp, #64]
    ldr     x30, [sp, #80]
    add     sp, sp, #128
    ret     x10
.Lrecursion:
    mov     x10, x30
    mov     x30, x9
    ret     x10
    .balign 8
    .globl bench_dynamic_literals
bench_dynamic_literals:
.Lops:
    .quad   0
.Lfunc:
    .quad   0
.Lguard:
    .quad   0
    .globl bench_dynamic_template_end
bench_dynamic_template_end:

// The area for the copies.
    .balign 64
    .globl bench_dynamic_area
bench_dynamic_area:
    .space  256 * 256
    .globl bench_dynamic_area_end
bench_dynamic_area_end:
