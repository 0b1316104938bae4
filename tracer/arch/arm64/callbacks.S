// SPDX-License-Identifier: Apache-2.0
// The trampolines between a site and the ops in its slot (ops.hpp, patcher.hpp).
//
// Each trampoline finds the slot from the body's address, which is in x30: (x30 & ~7) - 16. Any
// object in the slot has a callback, and a direct entry to go on to, or none. So every trampoline
// works with every object: during a change a core may meet the old word and the new slot.
// nopscope_callback reads and uses the object only while it holds the guard of this core and depth:
// synchronize() waits for that guard.

#include "tracer/arch/arm64/recorder.h"

// On the stack: Regs. The word behind REGS_PC holds the object; unguarded: the preceding frame.
#define FRAME_GUARD      112
#define REGS_FRAME_BYTES 128

    .arch armv8-a

// Makes room for Regs on the stack, and gives it back.
.macro push_regs
    sub     sp, sp, #REGS_FRAME_BYTES
    .cfi_adjust_cfa_offset REGS_FRAME_BYTES
.endm
.macro pop_regs
    add     sp, sp, #REGS_FRAME_BYTES
    .cfi_adjust_cfa_offset -REGS_FRAME_BYTES
.endm

// Copies x0-x8 and x29 to Regs at SP, and back.
.macro save_arguments
    save_x0_to_x7
    stp     x8, x29, [sp, #REGS_FP - 8]
.endm
.macro restore_arguments
    load_x0_to_x7
    ldp     x8, x29, [sp, #REGS_FP - 8]
.endm

// Stores the rest of Regs and sets a callback's arguments: x0 ip, x1 parent_ip, x2 the object in
// the slot. Stores \beside after REGS_PC. In: x9, x30 as at the entry. Changes x10, x11.
.macro load_object beside
    and     x11, x30, #~7               // the function plus 8
    add     x10, sp, #REGS_FRAME_BYTES
    ldr     x2, [x11, #-16]
    stp     x9, x10, [sp, #REGS_LR]
    stp     x30, \beside, [sp, #REGS_PC]
    .cfi_rel_offset 30, REGS_LR
    .cfi_rel_offset DWARF_PC, REGS_PC
    sub     x0, x11, #8
    mov     x1, x9
.endm

// Out: x12: the guard of this core and interrupt depth is at x12 + CORE_GUARDS. Changes x13.
.macro find_guard
    mrs     x12, NOPSCOPE_TPIDR
    ldr     x13, [x12, #CORE_DEPTH]
    ldr     w13, [x13]
    add     x12, x12, x13, lsl #3
.endm

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_callback: calls func(ip, parent_ip, object, Regs), unless this context is in a
// callback already. Goes on to the direct entry, or else to the body.
// In: x30 the body, x9 the caller's return address. Out: x30 = Regs.lr, at Regs.pc or the direct
// entry. Free: x9-x17. Frame: Regs, 128 bytes.
function nopscope_callback
    entry_unwinds
    interrupted RESTARTS, nopscope_callback
    find_guard
    ldr     x13, [x12, #CORE_GUARDS]
    cbz     x13, .Lrecursion
    str     xzr, [x12, #CORE_GUARDS]
    interrupted 0
    push_regs
    save_arguments
    load_object x2
    mov     x3, sp
#ifndef NOPSCOPE_DEFERS
    str     x13, [sp, #FRAME_GUARD]
#endif
    ldr     x10, [x2, #OPS_FUNC]
    blr     x10
label nopscope_callback_made
    ldp     x10, x11, [sp, #REGS_PC]
    restore_arguments
    ldr     x11, [x11, #OPS_DIRECT]
    ldr     x30, [sp, #REGS_LR]
    .cfi_register DWARF_PC, 10
    .cfi_same_value 30
#ifdef NOPSCOPE_DEFERS                  // the task may have moved to another core
    pop_regs
    interrupted RESTARTS, .Lrelease_guard
.Lrelease_guard:
    find_guard
    add     x13, x12, #CORE_GUARDS
#else
    ldr     x13, [sp, #FRAME_GUARD]
    pop_regs
#endif
    stlr    x13, [x13]                  // after the last load of what the object holds
    interrupted 0
    cbnz    x11, .Lto_direct
    ret     x10
    .cfi_endproc
end_of nopscope_callback

// In: x11 a direct entry, x10 the body, x30 the return address. A direct entry expects the body in
// x30 and the return address in x9.
.Lto_direct:
    entry_unwinds
    .cfi_register DWARF_PC, 10
    .cfi_same_value 30
    mov     x9, x30
    .cfi_register 30, 9
    mov     x30, x10
    leave   x11
    .cfi_endproc

// A callback, or a function that it called, has called a traced function.
.Lrecursion:
    entry_unwinds
    interrupted RESTARTS, .Lrecursion
    mrs     x10, NOPSCOPE_TPIDR
    add     x11, x10, #CORE_RECURSION
    add_one x11, x12, w13
    interrupted 0
    // Fall through: the direct entry still records.
    .balign 64
    .cfi_endproc

// void nopscope_far: goes on to the direct entry of the object in the slot, or else to the body.
// For sites from which a BL does not reach the direct entry.
// In, Out, Free: as a direct entry. Frame: none.
function nopscope_far
    entry_unwinds
    interrupted RESTARTS, nopscope_far
    and     x10, x30, #~7
    ldr     x10, [x10, #-16]
    ldr     x11, [x10, #OPS_DIRECT]
    cbz     x11, 1f
    leave   x11
1:  interrupted 0
    to_body
    .cfi_endproc
end_of nopscope_far

// void nopscope_callback_unguarded: calls the callback of an ops that needs no guard
// (ops_unguarded), and goes on to the body. Open frames form a chain, so synchronize() can tell
// that a core is in here. During a change the slot may hold another object: its Ops::unguarded
// takes the guard itself.
// In: x30 the body, x9 the caller's return address. Out: x30 = Regs.lr, at Regs.pc. Free: x9-x17.
// Frame: Regs, 128 bytes.
function nopscope_callback_unguarded
    entry_unwinds
    interrupted 0
    push_regs
    save_arguments
    mov     x3, sp
    interrupted RESTARTS, .Lenter_chain
.Lenter_chain:
    mrs     x12, NOPSCOPE_TPIDR
    ldr     x13, [x12, #CORE_UNGUARDED]
    str     x3, [x12, #CORE_UNGUARDED]  // before the slot is read
    interrupted 0
    load_object x13
    ldr     x10, [x2, #OPS_UNGUARDED]
    blr     x10
label nopscope_callback_unguarded_made
    ldp     x10, x13, [sp, #REGS_PC]
    restore_arguments
    ldr     x30, [sp, #REGS_LR]
    .cfi_register DWARF_PC, 10
    .cfi_same_value 30
    interrupted RESTARTS, .Lleave_chain
.Lleave_chain:
    mrs     x12, NOPSCOPE_TPIDR
    str     x13, [x12, #CORE_UNGUARDED]
    interrupted 0
    pop_regs
    ret     x10
    .cfi_endproc
end_of nopscope_callback_unguarded

// void nopscope_walk_list(ip, parent_ip, list, regs): the callback of a list. It calls each
// member's callback, in the order of attachment. In, Out, Free: AAPCS. Frame: 48 bytes.
function nopscope_walk_list
    .cfi_startproc
    bti     c
    stp     x30, x3, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset 30, 0
    stp     x19, x20, [sp, #16]
    .cfi_rel_offset 19, 16
    .cfi_rel_offset 20, 24
    stp     x0, x1, [sp, #32]
    ldr     w20, [x2, #LIST_COUNT]
    add     x19, x2, #LIST_MEMBERS
    add     x20, x19, x20, lsl #3
1:  ldr     x2, [x19], #8
    ldp     x0, x1, [sp, #32]
    ldr     x3, [sp, #8]
    ldr     x10, [x2, #OPS_FUNC]
    blr     x10
    cmp     x19, x20
    b.ne    1b
    ldp     x19, x20, [sp, #16]
    .cfi_restore 19
    .cfi_restore 20
    ldr     x30, [sp], #48
    .cfi_restore 30
    .cfi_adjust_cfa_offset -48
    ret
    .cfi_endproc
end_of nopscope_walk_list
