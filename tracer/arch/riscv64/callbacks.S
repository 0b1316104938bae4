// SPDX-License-Identifier: Apache-2.0
// The trampolines between a site and the ops in its slot (ops.hpp, patcher.hpp).
//
// Each trampoline finds the slot at t0 - 16. Any object in the slot has a callback, and a direct
// entry to go on to, or none. So every trampoline works with every object: during a change a core
// may meet the old word and the new slot. nopscope_callback reads and uses the object only while it
// holds the guard of this core and depth: synchronize() waits for that guard.

#include "tracer/arch/riscv64/recorder.h"

// On the stack: Regs. The word behind REGS_PC holds the object; unguarded: the preceding frame.
#define REGS_T2          64     // x[8]
#define REGS_BESIDE      REGS_PC + 8
#define FRAME_GUARD      112
#define REGS_FRAME_BYTES 128

    .section .text.nopscope_recorders, "ax", %progbits

// Stores Regs on the stack. Changes t1.
.macro save_regs
    addi    sp, sp, -REGS_FRAME_BYTES
    .cfi_adjust_cfa_offset REGS_FRAME_BYTES
    save_arguments
    sd      t2, REGS_T2(sp)
    sd      s0, REGS_FP(sp)
    sd      ra, REGS_LR(sp)
    addi    t1, sp, REGS_FRAME_BYTES
    sd      t1, REGS_LR + 8(sp)
    sd      t0, REGS_PC(sp)
    .cfi_rel_offset ra, REGS_LR
    .cfi_rel_offset t0, REGS_PC
.endm
// Loads them, t0 the body. `sp` stays.
.macro load_regs
    load_arguments
    ld      t2, REGS_T2(sp)
    ld      s0, REGS_FP(sp)
    ld      ra, REGS_LR(sp)
    ld      t0, REGS_PC(sp)
.endm
.macro pop_regs
    addi    sp, sp, REGS_FRAME_BYTES
    .cfi_adjust_cfa_offset -REGS_FRAME_BYTES
    .cfi_same_value ra
    .cfi_same_value t0
.endm
// A callback's arguments: a0 ip, a1 parent_ip, a2 the object in the slot, a3 Regs.
.macro pass_regs
    ld      a2, -16(t0)
    addi    a0, t0, -8
    mv      a1, ra
    mv      a3, sp
.endm

// void nopscope_callback: calls func(ip, parent_ip, object, Regs), unless this context is in a
// callback already. Goes on to the direct entry, or else to the body.
// In: t0 the body, ra the caller's return address. Out: ra = Regs.lr, at Regs.pc or the direct
// entry. Free: t1, t3-t6. Frame: Regs, 128 bytes.
function nopscope_callback
    entry_unwinds
    ld      t3, CORE_DEPTH(tp)
    lwu     t3, (t3)
    slli    t3, t3, 3
    add     t3, t3, tp
    ld      t4, CORE_GUARDS(t3)
    beqz    t4, .Lrecursion
    sd      zero, CORE_GUARDS(t3)
    save_regs
    pass_regs
    sd      a2, REGS_BESIDE(sp)
    sd      t4, FRAME_GUARD(sp)
    ld      t1, OPS_FUNC(a2)
    jalr    t1
label nopscope_callback_made
    ld      t3, REGS_BESIDE(sp)
    load_regs
    ld      t1, OPS_DIRECT(t3)
    ld      t4, FRAME_GUARD(sp)
    pop_regs
    fence   rw, w
    sd      t4, (t4)                    // after the last load of what the object holds
    bnez    t1, .Lto_direct
    jr      t0
.Lto_direct:
    jr      t1
// A callback, or a function that it called, has called a traced function.
.Lrecursion:
    count   CORE_RECURSION, t3, t4
    j       nopscope_far                // the direct entry still records
    .cfi_endproc
end_of nopscope_callback

// void nopscope_far: goes on to the direct entry of the object in the slot, or else to the body.
// In, Out, Free: as a direct entry. Frame: none.
function nopscope_far
    entry_unwinds
    ld      t1, -16(t0)
    ld      t1, OPS_DIRECT(t1)
    beqz    t1, 1f
    jr      t1
1:  jr      t0
    .cfi_endproc
end_of nopscope_far

// void nopscope_callback_unguarded: calls the callback of an ops that needs no guard
// (ops_unguarded), and goes on to the body. Open frames form a chain, so synchronize() can tell that
// a core is in here. During a change the slot may hold another object: its Ops::unguarded takes the
// guard itself.
// In: t0 the body, ra the caller's return address. Out: ra = Regs.lr, at Regs.pc. Free: t1, t3-t6.
// Frame: Regs, 128 bytes.
function nopscope_callback_unguarded
    entry_unwinds
    save_regs
    ld      t4, CORE_UNGUARDED(tp)
    sd      sp, CORE_UNGUARDED(tp)      // before the slot is read
    fence   rw, rw
    sd      t4, REGS_BESIDE(sp)
    pass_regs
    ld      t1, OPS_UNGUARDED(a2)
    jalr    t1
label nopscope_callback_unguarded_made
    ld      t4, REGS_BESIDE(sp)
    load_regs
    sd      t4, CORE_UNGUARDED(tp)
    pop_regs
    jr      t0
    .cfi_endproc
end_of nopscope_callback_unguarded

// void nopscope_walk_list(ip, parent_ip, list, regs): the callback of a list. It calls each member's
// callback, in the order of attachment. In, Out, Free: the psABI's. Frame: 48 bytes.
function nopscope_walk_list
    .cfi_startproc
    addi    sp, sp, -48
    .cfi_adjust_cfa_offset 48
    sd      ra, 40(sp)
    sd      s0, 32(sp)
    sd      s1, 24(sp)
    .cfi_rel_offset ra, 40
    .cfi_rel_offset s0, 32
    .cfi_rel_offset s1, 24
    sd      a0, 16(sp)
    sd      a1, 8(sp)
    sd      a3, (sp)
    lwu     s1, LIST_COUNT(a2)
    addi    s0, a2, LIST_MEMBERS
    slli    s1, s1, 3
    add     s1, s1, s0
1:  ld      a2, (s0)
    addi    s0, s0, 8
    ld      a0, 16(sp)
    ld      a1, 8(sp)
    ld      a3, (sp)
    ld      t1, OPS_FUNC(a2)
    jalr    t1
    bne     s0, s1, 1b
    ld      ra, 40(sp)
    ld      s0, 32(sp)
    ld      s1, 24(sp)
    addi    sp, sp, 48
    .cfi_restore ra
    .cfi_restore s0
    .cfi_restore s1
    .cfi_adjust_cfa_offset -48
    ret
    .cfi_endproc
end_of nopscope_walk_list
