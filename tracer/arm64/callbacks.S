// SPDX-License-Identifier: Apache-2.0
// The trampolines between a site and the ops in its slot (ops.hpp, patcher.hpp).
//
// Each finds the slot from the body's address, which is x30: (x30 & ~7) - 16. Whatever object is
// there has a callback and, perhaps, a direct entry to go on to, so any object is right for any of
// these: during a change a core may meet the old word and the new slot. The object is read and used
// only while the guard of this core and depth is taken: that is what synchronize() waits for.

#include "tracer/arm64/labels.h"

#define OPS_FUNC         0      // and OPS_DIRECT
#define OPS_DIRECT       8

#define CORE_DEPTH       208    // address of the core's interrupt depth, u32
#define CORE_RECURSION   216
#define CORE_GUARDS      256    // u64 for each depth: its own address while free, 0 while in use

#define REGS_FP          72     // x8 lies before it
#define REGS_LR          80     // and REGS_SP
#define REGS_PC          96     // and, ours, the object
#define FRAME_GUARD      112
#define FRAME_BYTES      128

    .arch armv8-a

// Saves the registers of a function's entry as Regs and loads the object. In: x9, x30, SP as at the
// entry. Out: Regs at sp; x0 ip, x1 parent_ip, x2 object, x3 Regs. Changes x10, x11.
.macro save_regs
    sub     sp, sp, #FRAME_BYTES
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x29, [sp, #REGS_FP - 8]
    and     x11, x30, #~7               // the function plus 8
    add     x10, sp, #FRAME_BYTES
    ldr     x2, [x11, #-16]
    stp     x9, x10, [sp, #REGS_LR]
    stp     x30, x2, [sp, #REGS_PC]
    sub     x0, x11, #8
    mov     x1, x9
    mov     x3, sp
.endm

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_callback: func(ip, parent_ip, object, Regs), unless this context is in a callback
// already; then the direct entry or the body.
// In: x30 the body, x9 the caller's return address. Out: x30 = Regs.lr, at Regs.pc or the direct
// entry. Free: x9-x17. Frame: Regs, 128 bytes.
function nopscope_callback
    mrs     x12, tpidr_el1
    ldr     x13, [x12, #CORE_DEPTH]
    ldr     w13, [x13]
    add     x12, x12, x13, lsl #3
    ldr     x13, [x12, #CORE_GUARDS]
    cbz     x13, .Lrecursion
    str     xzr, [x12, #CORE_GUARDS]
    save_regs
    str     x13, [sp, #FRAME_GUARD]
    ldr     x10, [x2, #OPS_FUNC]
    blr     x10
    ldp     x10, x11, [sp, #REGS_PC]
    ldp     x0, x1, [sp]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x29, [sp, #REGS_FP - 8]
    ldr     x11, [x11, #OPS_DIRECT]
    ldr     x30, [sp, #REGS_LR]
    ldr     x13, [sp, #FRAME_GUARD]
    add     sp, sp, #FRAME_BYTES
    stlr    x13, [x13]                  // after the last load of what the object holds
    cbnz    x11, .Lto_direct
    ret     x10
end_of nopscope_callback

// In: x11 a direct entry, x10 the body, x30 the return address. A direct entry wants them in x30, x9.
.Lto_direct:
    mov     x9, x30
    mov     x30, x10
    ret     x11

// A callback, or what it called, called a traced function.
.Lrecursion:
    mrs     x10, tpidr_el1
    add     x11, x10, #CORE_RECURSION
1:  ldxr    x12, [x11]
    add     x12, x12, #1
    stxr    w13, x12, [x11]
    cbnz    w13, 1b
    // Fall through: the direct entry still records.

// void nopscope_far: the direct entry of the object in the slot, or the body. For sites that a BL does
// not reach from.
// In, Out, Free: as a direct entry. Frame: none.
function nopscope_far
    and     x10, x30, #~7
    ldr     x10, [x10, #-16]
    ldr     x11, [x10, #OPS_DIRECT]
    cbz     x11, 1f
    ret     x11
1:  mov     x10, x30
    mov     x30, x9
    ret     x10
end_of nopscope_far

