// SPDX-License-Identifier: Apache-2.0
// The duration recorder. At a call's entry it only pushes a shadow frame with the clock. At the
// call's return, if the call took Core::min_duration ticks or more, it makes one record with the
// call's end, depth and duration. Else it counts the call.
//
// The frame stays until the record is in the ring or has been dropped. No entry has reserved room
// for the record. If the ring is full, the hook waits for room (lossless) or drops the record.

#include "tracer/arch/riscv64/recorder.h"

#define DURATION_BODY      SHADOW_POSITION
#define DURATION_START     SHADOW_REST

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_duration_entry: pushes a shadow frame and goes on to the body with ra the
// duration's hook. A call that may not be recorded runs unhooked.
// In: t0 the body, ra the caller's return address, SP as at the function's entry. Out: ra = the
// hook, or as it was; at the body. Free: t1, t3-t6. Frame: none.
function nopscope_duration_entry
    entry_unwinds
    ld      t3, CORE_LIMIT(tp)
    beqz    t3, .Lto_body
    check_call .Lduration_special
.Lduration_push:
    push_frame
    la      ra, nopscope_duration_hook
    read_clock t3
    sd      ra, SHADOW_HOOK(t1)
    sd      t0, DURATION_BODY(t1)
    sd      t3, DURATION_START(t1)
    jr      t0
    .cfi_endproc
end_of nopscope_duration_entry

// void nopscope_duration_hook: such a call returns here. Makes its record or counts it, and goes on
// to the caller.
// In: a0-a7, fa0-fa7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// t0-t6, ra. Frame: none.
function nopscope_duration_hook
    hook_unwinds
    ld      t1, CORE_TOP(tp)
    ld      t3, SHADOW_SP - SHADOW_BYTES(t1)
    bne     sp, t3, .Lduration_mismatch
.Lduration_end:
    addi    t1, t1, -SHADOW_BYTES
    ld      t2, (t1)
    .cfi_register ra, t2
    ld      t3, DURATION_START(t1)
    ld      t4, CORE_MIN_DURATION(tp)
    read_clock t5
    sub     t5, t5, t3
    bltz    t5, .Lduration_none         // the counter may have been read too early
.Lduration_compare:
    bgeu    t5, t4, .Lduration_record
    count   CORE_FILTERED, t5, t6
    j       .Lduration_pop

.Lduration_record:
    ld      t0, CORE_LIMIT(tp)
    claim   t6, t5, t4, t0, .Lduration_full, bytes=24, ends=1
    sub     t3, t5, t3                  // the duration up to this record's clock
    bltz    t3, .Lduration_before
.Lduration_depth:
    ld      t4, CORE_SHADOW_BASE(tp)
    sub     t4, t1, t4                  // depth << 6
    slli    t4, t4, 1
    li      t0, DURATION
    add     t4, t4, t0
    store_word t6, 0, t5, t4, t0
    ld      t5, DURATION_BODY(t1)       // the site plus 8
    addi    t5, t5, -8
    slli    t5, t5, 32
    srli    t5, t5, 35
    li      t4, DATA
    store_word t6, 1, t5, t4, t0
    srli    t5, t3, 32
    slli    t5, t5, 39
    srli    t5, t5, 32
    li      t4, DATA
    or      t4, t4, t5
    store_word t6, 2, t3, t4, t0
.Lduration_pop:
    sd      zero, SHADOW_SP(t1)
    sd      t1, CORE_TOP(tp)
    jr      t2
    .cfi_endproc
end_of nopscope_duration_hook

// ---- slow paths ----

.Lduration_special:
    entry_unwinds
    special_call nopscope_duration_entry, nopscope_duration_hook
    ld      t3, CORE_LIMIT(tp)
    bnez    t3, .Lduration_push
    jr      t0
    .cfi_endproc
.Lduration_mismatch:
    hook_unwinds
    special_return nopscope_duration_hook
    j       .Lduration_end
    .cfi_endproc
.Lduration_none:
    hook_unwinds
    .cfi_register ra, t2
    li      t5, 0
    j       .Lduration_compare
.Lduration_before:
    li      t3, 0
    j       .Lduration_depth
.Lduration_full:                        // the frame is still on the shadow stack
    call_cxx nopscope_duration_without_room, in=hook
    ld      t1, CORE_TOP(tp)
    addi    t1, t1, -SHADOW_BYTES
    ld      t2, (t1)
    j       .Lduration_pop
    .cfi_endproc
