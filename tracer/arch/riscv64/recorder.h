// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly macros that the recorders share. core.hpp has the rules. runtime/assembly_offsets.cpp
// defines CORE_ and the other offsets.
//
// tp points to the core. At a function's entry t0 is the body, ra the return address; t1 and t3 to
// t6 are free. t2 is the static chain of a nested function. At a return all of t0 to t6 are free.
#pragma once

#include "tracer/arch/function_labels.h"
#include "tracer/arch/riscv64/unwind.h"

#include "nopscope_offsets.h"

    .option norelax

// The clock of all records (cpu.hpp has it for C++).
.macro read_clock to
#if defined(NOPSCOPE_CLOCK_CYCLE)
    rdcycle \to
#elif defined(NOPSCOPE_CLOCK_MTIME)
    li      \to, NOPSCOPE_CLOCK_MTIME
    ld      \to, (\to)
#else
    rdtime  \to
#endif
.endm

#ifndef NOPSCOPE_RING_LOG2
#define NOPSCOPE_RING_LOG2 18
#endif
#define RING_SHIFT (64 - NOPSCOPE_RING_LOG2)
#define LAP_SHIFT  (NOPSCOPE_RING_LOG2 - 2)

// Claims \bytes of the ring. In: \limit; goes to \full if the position is at or above it; without
// \full there is no limit. With \ends the end may not be above it. Out: \at position, \clock.
// Changes \scratch.
//
// Between LR and SC only registers may be used. So the clock is read before LR, and again if the
// cursor has moved since. The ISA does not promise that an SC fails after an interrupt, a plain store
// or an AMO of this hart. So only LR and SC change the cursor (tests/rules/code_rules.py checks it).
.macro claim at, clock, scratch, limit, full, bytes=8, ends=0
1:  ld      \at, (tp)
.ifnb \full
.if \ends
    addi    \scratch, \at, \bytes
    bltu    \limit, \scratch, \full
.else
    bgeu    \at, \limit, \full
.endif
.endif
    read_clock \clock
    lr.d    \scratch, (tp)
    bne     \scratch, \at, 1b
    addi    \scratch, \scratch, \bytes
    sc.d    \scratch, \scratch, (tp)
    bnez    \scratch, 1b
.endm

// \low becomes a word of the ring: its lower half, with \high as upper half. Changes \high.
.macro join_halves low, high
    slli    \high, \high, 32
    slli    \low, \low, 32
    srli    \low, \low, 32
    or      \low, \low, \high
.endm
// Stores word \number of a record. In: \at position of its first word, \low and \high the word's
// halves. Changes \low, \high and \scratch.
.macro store_word at, number, low, high, scratch
    addi    \scratch, \at, 8 * \number
    srli    \scratch, \scratch, LAP_SHIFT
    xor     \high, \high, \scratch
    join_halves \low, \high
    addi    \high, \at, 8 * \number
    slli    \high, \high, RING_SHIFT
    srli    \high, \high, RING_SHIFT
    ld      \scratch, CORE_RING(tp)
    add     \high, \high, \scratch
    sd      \low, (\high)
.endm
// Stores a record of one word. Changes \at, \low, \high and \scratch.
.macro store_record at, low, high, scratch
    srli    \scratch, \at, LAP_SHIFT
    xor     \high, \high, \scratch
    join_halves \low, \high
    ld      \scratch, CORE_RING(tp)
    slli    \at, \at, RING_SHIFT
    srli    \at, \at, RING_SHIFT
    add     \at, \at, \scratch
    sd      \low, (\at)
.endm

// Adds one to the core's word at \offset. An interrupt loses no count. Changes \scratch and \one.
.macro count offset, scratch, one
    addi    \scratch, tp, \offset
    li      \one, 1
    amoadd.d zero, \one, (\scratch)
.endm
// Counts a call that is not recorded, and goes on to its body.
.macro count_and_leave offset
    count   \offset, t3, t4
    jr      t0
.endm

// Stores a0 to a7 at SP + \at, or loads them.
.macro save_arguments at=0
    sd      a0, \at(sp)
    sd      a1, \at + 8(sp)
    sd      a2, \at + 16(sp)
    sd      a3, \at + 24(sp)
    sd      a4, \at + 32(sp)
    sd      a5, \at + 40(sp)
    sd      a6, \at + 48(sp)
    sd      a7, \at + 56(sp)
.endm
.macro load_arguments at=0
    ld      a0, \at(sp)
    ld      a1, \at + 8(sp)
    ld      a2, \at + 16(sp)
    ld      a3, \at + 24(sp)
    ld      a4, \at + 32(sp)
    ld      a5, \at + 40(sp)
    ld      a6, \at + 48(sp)
    ld      a7, \at + 56(sp)
.endm

// How many instructions more a tail call takes (special_call).
#define TAIL_CALL        11

// Calls the C++ function name(core, SP, return address, body) from a slow path. Its result is in t3.
// Keeps a0-a7, t0, t2 and ra; loses t1 and t4-t6. The tracer's C++ uses no FP registers. With
// \moment it calls name(core, SP, Moment (ring.hpp), \before, return address): \before counts the
// recorder's instructions before it, and TAIL_CALL more if this is a tail call, which returns to the
// hook \tail. With \body it also gets t0 and Core::profiled. \in tells a debugger where the caller
// is: in an `entry` by ra and t0, in a hook by t2 (`hook`) or only by the shadow stack (`mismatch`).
.macro call_cxx name, moment=0, before=0, tail, body=0, in=entry
.if \moment
    ld      t3, (tp)
.if \body
    ld      t4, CORE_PROFILED(tp)
.endif
    read_clock t5
.endif
    .cfi_remember_state
    addi    sp, sp, -96
    .cfi_adjust_cfa_offset 96
    save_arguments
    sd      t0, 64(sp)
    sd      t2, 72(sp)
    sd      ra, 80(sp)
.ifc \in,entry
    .cfi_rel_offset t0, 64
    .cfi_rel_offset ra, 80
.endif
.ifc \in,hook
    .cfi_rel_offset ra, 72
.endif
    mv      a0, tp
    addi    a1, sp, 96
.if \moment
    mv      a2, t3
    mv      a3, t5
    li      a4, \before
.ifnb \tail
    la      a5, \tail
    bne     ra, a5, .Lno_tail_\@
    addi    a4, a4, TAIL_CALL
.Lno_tail_\@:
.endif
    mv      a5, ra
.if \body
    mv      a6, t0
    mv      a7, t4
.endif
.else
    mv      a2, ra
    mv      a3, t0
.endif
    call    \name
    mv      t3, a0
    load_arguments
    ld      t0, 64(sp)
    ld      t2, 72(sp)
    ld      ra, 80(sp)
    addi    sp, sp, 96
    .cfi_restore_state
.endm

// Goes to \special (special_call) unless this call may be hooked: SP is in the stack and not below
// the context's lowest one so far, a shadow frame is free, and the top frame belongs to an outer
// call. Out: t1 the free frame, t4 the lowest SP, t5 where hooking stops, t6 the top frame's SP.
.macro check_call special
    ld      t1, CORE_TOP(tp)
    ld      t4, CORE_LOWEST_SP(tp)
    ld      t5, CORE_SHADOW_END(tp)
    ld      t6, SHADOW_SP - SHADOW_BYTES(t1)
    bltu    sp, t4, \special
    bgeu    t1, t5, \special
    bgeu    sp, t6, \special
.endm

// Pushes the frame at t1: publishes the new top, then writes the frame. Changes t4.
.macro push_frame
    addi    t4, t1, SHADOW_BYTES
    sd      t4, CORE_TOP(tp)
    sd      ra, (t1)
    sd      sp, SHADOW_SP(t1)
.endm

// Handles a call that check_call sent here: SP is outside the stack or below all before, no frame is
// free, or the top frame's SP (t6) is not above ours. An SP below all before becomes the lowest, and
// \entry begins again. If both SPs are equal and the return address is this hook, this is a tail
// call. Its frame nests in that of the function that jumped, unless that one was reached by a jump,
// too: then its return address is the hook of the frame below, and its call ends here
// (tail_calls.hpp). Else longjmp has skipped calls, the jump is between two recorders, or the
// interrupted code is just writing the frame.
// In: as check_call leaves it. Out: ra return address, t1 the free frame to push. Counts the call and
// goes to the body if SP is outside the stack, no frame is free, or (without \at_any_depth) as many
// calls are open as may be.
.macro special_call entry, hook, at_any_depth=0
    bne     sp, t6, 8f
    la      t3, \hook
    bne     ra, t3, 8f
    ld      t3, -SHADOW_BYTES(t1)
    ld      t4, SHADOW_HOOK - 2 * SHADOW_BYTES(t1)
    beq     t3, t4, 1f
    j       2f                          // TAIL_CALL more instructions than for another call
8:  ld      t3, CORE_STACK_HIGH(tp)
    bltu    sp, t4, 4f
    bgeu    sp, t3, 4f
    bltu    sp, t6, 2f
1:  call_cxx nopscope_unwind_at_entry, moment=1, before=19, body=1
    mv      ra, t3
    ld      t1, CORE_TOP(tp)
    ld      t5, CORE_SHADOW_END(tp)
2:  bltu    t1, t5, 5f
    ld      t5, CORE_FRAMES_END(tp)
.if \at_any_depth
    bltu    t1, t5, 5f
.else
    bltu    t1, t5, 3f
.endif
    count_and_leave CORE_SHADOW_STACK_FULL
.if !\at_any_depth
3:  count_and_leave CORE_FILTERED
.endif
4:  bgeu    sp, t3, 7f
    ld      t3, CORE_STACK_LOW(tp)
    bltu    sp, t3, 7f
    addi    t3, tp, CORE_LOWEST_SP
6:  lr.d    t4, (t3)
    bgeu    sp, t4, \entry              // an interrupt's call was lower
    sc.d    t4, sp, (t3)
    bnez    t4, 6b
    j       \entry
7:  count_and_leave CORE_OFF_STACK
5:
.endm

// Handles a return with another call's frame on top: longjmp skipped calls above it, or an
// interrupt has just popped such calls. Out: t1 behind the call's frame. If that is not on this
// context's shadow stack, returns to the caller (strays.hpp). Panics if the caller is not known.
// \before: the hook's instructions until the clock is read.
.macro special_return hook, before=7
    la      ra, \hook
    call_cxx nopscope_unwind_at_return, moment=1, before=\before, in=mismatch
    andi    t4, t3, 1
    mv      t1, t3
    beqz    t4, 1f
    addi    t2, t3, -1
    .cfi_remember_state
    .cfi_register ra, t2
    jr      t2
    .cfi_restore_state
1:
.endm
