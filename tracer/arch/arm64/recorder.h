// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly macros that the recorders share. core.hpp has the rules. runtime/assembly_offsets.cpp
// defines CORE_ and the other offsets.
#pragma once

#include "tracer/arch/arm64/hook.h"
#include "tracer/arch/arm64/reserved_register.h"
#include "tracer/arch/function_labels.h"
#include "tracer/arch/arm64/unwind.h"

#include "nopscope_offsets.h"

#define CARRY            2      // NZCV that means "higher or same"

// The clock of all records (cpu.hpp has it for C++).
.macro read_clock to
#ifdef NOPSCOPE_CLOCK_PMCCNTR
    mrs     \to, pmccntr_el0
#else
    mrs     \to, cntvct_el0
#endif
.endm

// Reads 32 bits each of the PMU's event counters 0 (into the low half of \to) and 1 (high half).
.macro read_counters to, scratch
    mrs     \to, pmevcntr0_el0
    mrs     \scratch, pmevcntr1_el0
    bfi     \to, \scratch, #32, #32
.endm

#ifndef NOPSCOPE_RING_LOG2
#define NOPSCOPE_RING_LOG2 18
#endif
#define RING_MASK  ((1 << NOPSCOPE_RING_LOG2) - 1)
#define LAP_SHIFT  (NOPSCOPE_RING_LOG2 - 2)

// Stores word \number of a record that has several words. In: \at position of the record's first
// word, \low and \high the word's halves, \ring. Changes \low, \high and \scratch.
.macro store_word at, number, low, high, ring, scratch
    add     \scratch, \at, #8 * \number
    eor     \high, \high, \scratch, lsr #LAP_SHIFT
    bfi     \low, \high, #32, #32
    and     \scratch, \scratch, #RING_MASK
    str     \low, [\ring, \scratch]
.endm

// Says what an interrupt does to the code from here on (deferral.S), in a library that defers
// interrupts. \rule: 0 or a sum of these. \at: where code that RESTARTS begins again. Only in
// recording.S.
#define RESTARTS         1
#define UNPUSHES         2      // and the frame at x17 is not on the shadow stack any more
#define UNLESS_W16_IS_0  4      // RESTARTS only after a store-exclusive that failed
#define UNLESS_W14_IS_0  8
#define TAKES_BODY       16     // x14 becomes x30, and the code goes on where the rule ends
#define FINISHES_X9      32     // it ends with RET x9 or x14: until then interrupts are masked
#define FINISHES_X14     64
.macro interrupted rule, at
#if defined(NOPSCOPE_DEFERS) && defined(NOPSCOPE_RECORDING)
.Lrule_\@:
    .pushsection .rodata.nopscope_rules, "a", %progbits
    .hword  (.Lrule_\@ - nopscope_recording) / 4
.ifnb \at
    .hword  (\at - nopscope_recording) / 4
.else
    .hword  0
.endif
    .word   \rule
    .popsection
#endif
.endm

// Goes on to the traced function's body, and does not hook the call.
.macro to_body
    .cfi_remember_state
    mov     x10, x30
    .cfi_register DWARF_PC, 10
    mov     x30, x9
    ret     x10
    .cfi_restore_state
.endm

// Adds one to the word at \at. An interrupt loses no count. Changes \word and \failed.
.macro add_one at, word, failed
#ifdef NOPSCOPE_DEFERS
    ldr     \word, [\at]
    add     \word, \word, #1
    str     \word, [\at]
#else
.Ladd_one_\@:
    ldxr    \word, [\at]
    add     \word, \word, #1
    stxr    \failed, \word, [\at]
    cbnz    \failed, .Ladd_one_\@
#endif
.endm

// Adds \low and \high to the pair of words at \at. As add_one. Changes \first, \second and \failed.
.macro add_pair at, low, high, first, second, failed
#ifdef NOPSCOPE_DEFERS
    ldp     \first, \second, [\at]
    add     \first, \first, \low
    add     \second, \second, \high
    stp     \first, \second, [\at]
#else
.Ladd_pair_\@:
    ldxp    \first, \second, [\at]
    add     \first, \first, \low
    add     \second, \second, \high
    stxp    \failed, \first, \second, [\at]
    cbnz    \failed, .Ladd_pair_\@
#endif
.endm

// Marks the frame at x17 as unused. Where interrupts are deferred no other code sees a frame that
// is not written, or no longer needed: there the top alone tells.
.macro free_frame
#ifndef NOPSCOPE_DEFERS
    str     xzr, [x17, #SHADOW_SP]
#endif
.endm

// Counts a call that is not recorded, and goes on to its body. In: x10 core. \entry: its recorder.
.macro count_and_leave counter, entry
    interrupted RESTARTS, \entry
    add     x11, x10, #\counter
    add_one x11, x12, w13
    interrupted 0                       // the core is not needed any more
    b       .Lto_body
.endm

// Stores x0 to x7 at SP + \at, or loads them.
.macro save_x0_to_x7 at=0
    stp     x0, x1, [sp, #\at]
    stp     x2, x3, [sp, #\at + 16]
    stp     x4, x5, [sp, #\at + 32]
    stp     x6, x7, [sp, #\at + 48]
.endm
.macro load_x0_to_x7 at=0
    ldp     x0, x1, [sp, #\at]
    ldp     x2, x3, [sp, #\at + 16]
    ldp     x4, x5, [sp, #\at + 32]
    ldp     x6, x7, [sp, #\at + 48]
.endm

// Calls the C++ function name(core, SP, return address, body) from a slow path. Its result is in
// x11. Keeps x0-x9, x18, x30 and the stack's alignment; loses the rest of x10-x17. The tracer's C++
// uses no FP registers. The task may be preempted in it and go on on another core, so the caller
// reads the core again and says what an interrupt does from there on. With \moment it calls
// name(core, SP, Moment (ring.hpp), \before, return address): \before counts the recorder's
// instructions before it, and 14 more (special_call) if this is a tail call, which returns to the
// hook \tail. With \body it also gets x30 and Core::profiled. \in: entry or hook (unwind.h).
.macro call_cxx name, moment=0, before=0, tail, in=entry, body=0
.if \moment
    ldr     x11, [x10]
.if \body
    ldr     x13, [x10, #CORE_PROFILED]
.endif
    read_clock x12
.endif
    interrupted 0
    .cfi_remember_state
    sub     sp, sp, #96
    .cfi_adjust_cfa_offset 96
    save_x0_to_x7
    stp     x8, x9, [sp, #64]
    stp     x18, x30, [sp, #80]
.ifc \in, entry
    .cfi_rel_offset 30, 72
    .cfi_rel_offset DWARF_PC, 88
.endif
    mov     x0, x10
    add     x1, sp, #96
.if \moment
    mov     x2, x11
    mov     x3, x12
    mov     w4, #\before
.ifnb \tail
    adr     x5, \tail
    cmp     x9, x5
    add     w5, w4, #14
    csel    w4, w5, w4, eq
.endif
    mov     x5, x9
.if \body
    mov     x6, x30
    mov     x7, x13
.endif
.else
    mov     x2, x9
    mov     x3, x30
.endif
    bl      \name
    mov     x11, x0
    load_x0_to_x7
    ldp     x8, x9, [sp, #64]
    ldp     x18, x30, [sp, #80]
.ifc \in, entry
    .cfi_register 30, 9
    .cfi_register DWARF_PC, 30
.endif
    add     sp, sp, #96
    .cfi_restore_state
.endm

// Goes to \special (special_call) unless this call may be hooked: SP is in the stack and not below
// the context's lowest one so far, a shadow frame is free, and the top frame belongs to an outer
// call. In: x10 core. Out: x12 SP, x17 the free frame, x13 the top frame's SP, x16 the lowest SP,
// x11 where hooking stops. A recorder that stores the ring with the top (core.hpp) names a register
// for it, \ring.
.macro check_call special, ring
.ifnb \ring
    ldp     \ring, x17, [x10, #CORE_RING_AGAIN]
.else
    ldr     x17, [x10, #CORE_TOP]
.endif
    ldp     x11, x16, [x10, #CORE_SHADOW_END]
    mov     x12, sp
    ldr     x13, [x17, #SHADOW_SP - SHADOW_BYTES]
    cmp     x12, x16
    ccmp    x17, x11, #CARRY, hs        // SP at or above the lowest: top below the end?
    ccmp    x12, x13, #CARRY, lo        // and SP below the top frame's, or the sentinel's?
    b.hs    \special
.endm

// Handles a call that check_call sent here: SP (x12) is outside the stack or below all before, no
// frame is free, or the top frame's SP (x13) is not above ours. An SP below all before becomes the
// lowest, and \entry begins again. If both SPs are equal and the return address is this hook, this
// is a tail call. Its frame nests in that of the function that jumped, unless that one was reached
// by a jump, too: then its return address is the hook of the frame below, and its call ends here
// (tail_calls.hpp). Else longjmp has skipped calls, the jump is between two recorders, or the
// interrupted code is just writing the frame.
// In: as check_call leaves it, and x9 return address. Out: x9 return address, the same x10, x12;
// x17 the free frame to push. Counts the call and goes to the body if SP is outside the stack, no
// frame is free, or (without \at_any_depth) as many calls are open as may be.
.macro special_call entry, hook, at_any_depth=0
    interrupted RESTARTS, \entry
    cmp     x12, x13
    b.ne    8f
    adr     x14, \hook
    cmp     x9, x14
    b.ne    8f
    ldr     x14, [x17, #-SHADOW_BYTES]
    ldr     x13, [x17, #SHADOW_HOOK - 2 * SHADOW_BYTES]
    cmp     x14, x13
    b.eq    1f
    b       2f                          // 14 more instructions than for another call
8:  ldr     x14, [x10, #CORE_STACK_HIGH]
    cmp     x12, x16
    ccmp    x12, x14, #CARRY, hs
    b.hs    4f
    cmp     x12, x13
    b.lo    2f
1:  call_cxx nopscope_unwind_at_entry, moment=1, before=23, body=1
    mov     x9, x11
    interrupted RESTARTS, \entry
    mrs     x10, NOPSCOPE_TPIDR
    mov     x12, sp
    ldp     x17, x11, [x10, #CORE_TOP]
2:  cmp     x17, x11
    b.lo    5f
    ldr     x11, [x10, #CORE_FRAMES_END]
    cmp     x17, x11
.if \at_any_depth
    b.lo    5f
.else
    b.lo    3f
.endif
    count_and_leave CORE_SHADOW_STACK_FULL, \entry
.if !\at_any_depth
3:  count_and_leave CORE_FILTERED, \entry
.endif
4:  interrupted RESTARTS, \entry
    cmp     x12, x14
    b.hs    7f
    ldr     x14, [x10, #CORE_STACK_LOW]
    cmp     x12, x14
    b.lo    7f
#ifdef NOPSCOPE_DEFERS
    str     x12, [x10, #CORE_LOWEST_SP]
    interrupted RESTARTS, \entry        // the store stays: it is true
#else
    add     x14, x10, #CORE_LOWEST_SP
6:  ldxr    x13, [x14]
    cmp     x12, x13
    b.hs    \entry                      // an interrupt's call was lower
    stxr    w16, x12, [x14]
    cbnz    w16, 6b
#endif
    b       \entry
7:  count_and_leave CORE_OFF_STACK, \entry
5:  interrupted RESTARTS, \entry
.endm

// Handles a return with another call's frame on top: longjmp skipped calls above it, or an
// interrupt has just popped such calls. Out: x10 core, x17 the call's frame, x9 its return address.
// If the call's frame is not on this context's shadow stack, returns to the caller (strays.hpp).
// Panics if the caller is not known. \again: where the hook may begin again. \before: the hook's
// instructions until the clock is read.
.macro special_return hook, again, before=9
    adr     x9, \hook
    call_cxx nopscope_unwind_at_return, moment=1, before=\before, in=hook
    tbz     x11, #0, 1f
    sub     x9, x11, #1
    .cfi_remember_state
    .cfi_register 30, 9
    leave   x9
    .cfi_restore_state
    interrupted RESTARTS, \again
1:  mrs     x10, NOPSCOPE_TPIDR
    sub     x17, x11, #SHADOW_BYTES
    ldr     x9, [x17]
    .cfi_register 30, 9
.endm

// u16 \name[]: how many of the recorder's instructions a call that counts events executes on the
// usual path. First those between the two readings (.Lread_), minus the site's three (landing pad,
// MOV, BL). Then those outside, with the site's three. \second: the part for a second event; with
// it the last number is for two events, and the number before it for one.
.macro events_costs name, entry, hook, second
    .section .rodata.\name, "a", %progbits
    .balign 2
    .globl  \name
\name:
    .set    unexecuted, UNEXECUTED_AT_BEGIN
    .set    .Linside_\name, (\entry\()_end - .Lread_\entry + .Lread_\hook - \hook) / 4 - 3 - unexecuted
    .set    .Lall_\name, (\entry\()_end - \entry + \hook\()_end - \hook) / 4 - unexecuted
    .hword  .Linside_\name
.ifnb \second
    .hword  .Lall_\name - .Linside_\name - (\second) / 4
.endif
    .hword  .Lall_\name - .Linside_\name
    .size   \name, . - \name
.endm
