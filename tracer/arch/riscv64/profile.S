// SPDX-License-Identifier: Apache-2.0
// The profile recorder adds a call's duration to the cell of its function and core. It makes no
// record and searches nothing: the slot's object holds the address of core 0's cell, and the core
// the distance from there to its own cell.
//
// Nested interrupts leave it exact, and it masks none. It reads Core::profiled before and after the
// clock. If an interrupt has recorded calls in between, it reads both again. So the interrupt's time
// is in both this call's duration and `profiled`, or in neither. What it adds to `profiled` and to
// the cell it adds by AMOs, which an interrupt cannot divide. The tracer's C++ changes `profiled`
// with interrupts masked.

#include "tracer/arch/riscv64/recorder.h"

#define PROFILE_CELL      SHADOW_POSITION
#define PROFILE_START     SHADOW_REST        // clock and CORE_PROFILED at the entry

// A cell's address is that of its total. Its self time follows, and then the bins, each at 8 times
// the number of leading zeros of its durations, 2 to 64.
#define CELL_SELF         8
#define CELL_BIN_OF_0     8 * 64

    .section .text.nopscope_recorders, "ax", %progbits

// Reads the clock and Core::profiled at one instant. Changes \scratch.
.macro read_profiled clock, profiled, scratch
1:  ld      \profiled, CORE_PROFILED(tp)
    read_clock \clock
    ld      \scratch, CORE_PROFILED(tp)
    bne     \scratch, \profiled, 1b
.endm

// void nopscope_profile_entry: pushes a shadow frame and goes on to the body with ra the profile's
// hook. A call that may not be recorded runs unhooked.
// In: t0 the body, ra the caller's return address, SP as at the function's entry. Out: ra = the
// hook, or as it was; at the body. Free: t1, t3-t6. Frame: none.
function nopscope_profile_entry
    entry_unwinds
    ld      t3, CORE_LIMIT(tp)
    beqz    t3, .Lto_body
    check_call .Lprofile_special
.Lprofile_push:
    ld      t3, -16(t0)                 // the slot's object, without a guard: quiescence.hpp
    ld      t3, OPS_DATA(t3)
    beqz    t3, .Lprofile_without_slot
.Lprofile_frame:
    ld      t5, CORE_CELLS(tp)
    add     t5, t5, t3
    push_frame
    la      ra, nopscope_profile_hook
    sd      ra, SHADOW_HOOK(t1)
    sd      t5, PROFILE_CELL(t1)
    read_profiled t4, t3, t5
    sd      t4, PROFILE_START(t1)
    sd      t3, PROFILE_START + 8(t1)
    jr      t0
    .cfi_endproc
end_of nopscope_profile_entry

// void nopscope_profile_hook: a profiled call returns here. Adds the call to its cell and goes on to
// the caller.
// In: a0-a7, fa0-fa7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// t0-t6, ra. Frame: none.
function nopscope_profile_hook
    hook_unwinds
    ld      t1, CORE_TOP(tp)
    ld      t3, SHADOW_SP - SHADOW_BYTES(t1)
    bne     sp, t3, .Lprofile_mismatch
.Lprofile_pop:
    addi    t1, t1, -SHADOW_BYTES
    ld      t2, (t1)                    // read the frame before it is released
    .cfi_register ra, t2
    ld      t6, PROFILE_CELL(t1)
    ld      t4, PROFILE_START(t1)
    ld      t5, PROFILE_START + 8(t1)
    sd      zero, SHADOW_SP(t1)
    sd      t1, CORE_TOP(tp)
    read_profiled t0, t3, t1
    sub     t0, t0, t4                  // the duration
    bltz    t0, .Lprofile_none          // the counter may have been read too early
.Lprofile_add:
    ld      t4, CORE_PROFILE_COST(tp)
    sub     t5, t5, t3
    slli    t3, t0, PROFILED_SHIFT
    add     t5, t5, t3
    add     t5, t5, t4                  // self: minus the calls that ended in it
    addi    t1, tp, CORE_PROFILED
    amoadd.d zero, t5, (t1)
    ld      t3, CELL_MIN(t6)
    ld      t4, CELL_MIN + 8(t6)
    bltu    t0, t3, .Lprofile_extreme
    bltu    t4, t0, .Lprofile_extreme
.Lprofile_sums:
    amoadd.d zero, t0, (t6)
    addi    t1, t6, CELL_SELF
    amoadd.d zero, t5, (t1)
    addi    t6, t6, CELL_BIN_OF_0
    beqz    t0, 2f
1:  srli    t0, t0, 1
    addi    t6, t6, -8
    bnez    t0, 1b
2:  li      t1, 1
    amoadd.d zero, t1, (t6)
    jr      t2
    .cfi_endproc
end_of nopscope_profile_hook

// ---- slow paths ----

.Lprofile_none:
    li      t0, 0
    j       .Lprofile_add
// Stores a new minimum, a new maximum, or both.
.Lprofile_extreme:
    addi    t1, t6, CELL_MIN
    amominu.d zero, t0, (t1)
    addi    t1, t6, CELL_MIN + 8
    amomaxu.d zero, t0, (t1)
    j       .Lprofile_sums
.Lprofile_mismatch:
    hook_unwinds
    special_return nopscope_profile_hook
    j       .Lprofile_pop
    .cfi_endproc
// A call during a change, when the slot does not hold its cell. check_call has accepted it.
.Lprofile_without_slot:
    entry_unwinds
    call_cxx nopscope_profile_cell
// And a graph recorder's call that found the ring full. In: t3 its cell of core 0; 0: it has none.
label nopscope_profile_found
    beqz    t3, .Lto_body
    ld      t1, CORE_TOP(tp)            // unchanged: interrupts pop all that they push
    j       .Lprofile_frame
label nopscope_profile_found_end
.Lprofile_special:
    special_call nopscope_profile_entry, nopscope_profile_hook, at_any_depth=1
    ld      t3, CORE_LIMIT(tp)
    bnez    t3, .Lprofile_push
    jr      t0
    .cfi_endproc

same nopscope_profile_events_entry, nopscope_profile_entry
same nopscope_profile_events_hook, nopscope_profile_hook

// No instructions are taken off events (events_costs of core/hooks.hpp).
    .section .rodata.nopscope_events_costs, "a", %progbits
    .balign 2
label nopscope_graph_events_costs
label nopscope_profile_events_costs
    .half   0, 0, 0
