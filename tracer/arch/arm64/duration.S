// SPDX-License-Identifier: Apache-2.0
// The duration recorder. At a call's entry it only pushes a shadow frame with the clock. At the
// call's return, if the call took Core::min_duration ticks or more, it makes one record with the
// call's end, depth and duration. Else it counts the call.
//
// The frame stays until the record is in the ring or has been dropped. No entry has reserved room
// for the record. If the ring is full, the hook waits for room (lossless) or drops the record.

#include "tracer/arch/arm64/recorder.h"

#define DURATION_BODY      SHADOW_POSITION
#define DURATION_START     SHADOW_REST

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_duration_entry: pushes a shadow frame and goes on to the body with x30 the
// duration's hook. A call that may not be recorded runs unhooked.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry. Out: x30 = the
// hook, or x9; at the body. Free: x9-x17. Frame: none.
function nopscope_duration_entry
    entry_unwinds
    interrupted RESTARTS, nopscope_duration_entry
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x14, [x10, #CORE_LIMIT]
    cbz     x14, .Lto_body
    check_call .Lduration_special
.Lduration_push:
    mov     x14, x30
    .cfi_register DWARF_PC, 14
    interrupted FINISHES_X14
    add     x13, x17, #SHADOW_BYTES      // publish the new top, then write the frame
    str     x13, [x10, #CORE_TOP]
    stp     x9, x12, [x17]
#ifdef NOPSCOPE_DEFERS                  // x14 may be nopscope_deferred here
    adr     x13, nopscope_duration_hook
    read_clock x11
    stp     x13, x30, [x17, #SHADOW_HOOK]
    mov     x30, x13
#else
    adr     x30, nopscope_duration_hook
    read_clock x11
    stp     x30, x14, [x17, #SHADOW_HOOK]
#endif
    str     x11, [x17, #DURATION_START]
    ret     x14
    .cfi_endproc
end_of nopscope_duration_entry

// void nopscope_duration_hook: such a call returns here. Makes its record or counts it, and goes on
// to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// x9-x17, x30. Frame: none.
function nopscope_duration_hook
    hook_unwinds
    interrupted RESTARTS, .Lduration_begun
    begin_hook
.Lduration_begun:
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x17, [x10, #CORE_TOP]
    ldp     x9, x13, [x17, #-SHADOW_BYTES]!
    cmp     sp, x13
    b.ne    .Lduration_mismatch
.Lduration_end:
    .cfi_register 30, 9
    ldr     x12, [x17, #DURATION_START]
    ldp     x13, x15, [x10, #CORE_FILTERED]!
    read_clock x11
    subs    x11, x11, x12
    csel    x11, x11, xzr, pl           // the counter may have been read too early
    cmp     x11, x15
    b.hs    .Lduration_record
    interrupted FINISHES_X9
    add_one x10, x13, w14
    free_frame
    str     x17, [x10, #CORE_TOP - CORE_FILTERED]
    leave   x9

.Lduration_record:
    interrupted RESTARTS, .Lduration_begun
    sub     x10, x10, #CORE_FILTERED
    ldp     x15, x14, [x10, #CORE_LIMIT]
1:  ldxr    x30, [x10]
    read_clock x11
    add     x13, x30, #24
    cmp     x13, x15
    b.hi    .Lduration_full
    stxr    w16, x13, [x10]
    interrupted RESTARTS + UNLESS_W16_IS_0 + FINISHES_X9, .Lduration_begun
    cbnz    w16, 1b
    interrupted FINISHES_X9
    subs    x16, x11, x12               // the duration up to this record's clock
    csel    x16, x16, xzr, pl
    ldr     x12, [x10, #CORE_SHADOW_BASE]
    sub     x12, x17, x12               // depth << 6
    mov     x13, #DURATION
    add     x12, x13, x12, lsl #1
    ldr     x13, [x17, #DURATION_BODY]
    sub     x13, x13, #8                // the body rounded down is the site plus 8
    ubfx    x13, x13, #3, #29
    mov     x10, #DATA
    store_word x30, 1, x13, x10, x14, x15
    lsr     x13, x16, #32
    mov     x10, #DATA
    bfi     x10, x13, #7, #25
    store_word x30, 2, x16, x10, x14, x15
    store_word x30, 0, x11, x12, x14, x15
    mrs     x10, NOPSCOPE_TPIDR
.Lduration_pop:
    free_frame
    str     x17, [x10, #CORE_TOP]
    leave   x9
    .cfi_endproc
end_of nopscope_duration_hook

// ---- slow paths ----

.Lduration_special:
    entry_unwinds
    special_call nopscope_duration_entry, nopscope_duration_hook
    ldr     x14, [x10, #CORE_LIMIT]
    cbnz    x14, .Lduration_push
    b       .Lto_body
    .cfi_endproc
.Lduration_mismatch:
    hook_unwinds
    interrupted RESTARTS, .Lduration_begun
    special_return nopscope_duration_hook, .Lduration_begun
    b       .Lduration_end
    .cfi_endproc
.Lduration_full:
    hook_unwinds                        // the frame is still on the shadow stack
    interrupted RESTARTS, .Lduration_begun
    call_cxx nopscope_duration_without_room, in=hook
    interrupted RESTARTS, .Lduration_recorded
.Lduration_recorded:
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x17, [x10, #CORE_TOP]
    sub     x17, x17, #SHADOW_BYTES
    b       .Lduration_pop
    .cfi_endproc
