// SPDX-License-Identifier: Apache-2.0
// The recorders: what an enabled site's BL reaches, and the hook that hooked calls return to.
//
// At a function's entry x9-x17 are free; x0-x8, x18, v0-v7 are not. At its return x0-x8 and v0-v7
// may hold results; x9-x17 are free. So the hot paths save nothing. core.hpp has the ring's and
// the shadow stack's rules and asserts the offsets below. Each hot path ends in RET, not BR: the
// return predictor has paired the site's BL, and RET needs no landing pad.

#include "tracer/arm64/recorder.h"

#define FRAME_POSITION   24

#define KIND_ENTRY       1
#define KIND_RET         2

    .arch armv8-a

// Claims a ring slot. In: x10 core, x14 limit (\full is taken at or above it; none: no limit).
// Out: x12 position, x11 clock. Changes x13, x16.
.macro claim full
1:  ldxr    x12, [x10]
.ifnb \full
    cmp     x12, x14
    b.hs    \full
.endif
    read_clock x11
    add     x13, x12, #8
    stxr    w16, x13, [x10]
    cbnz    w16, 1b
.endm

// Stores a record. In: x12 position, x11 clock, w13 its high word, x15 ring. Changes x11-x13.
.macro store_record
    eor     x13, x13, x12, lsr #LAP_SHIFT
    bfi     x11, x13, #32, #32
    and     x12, x12, #RING_MASK
    str     x11, [x15, x12]
.endm

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_function_entry: one `call` record, then the body.
// In: x30 the body, x9 the caller's return address. Out: x30 = x9, at the body.
// Free: x9-x17. Frame: none.
function nopscope_function_entry
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x14, x15, [x10, #CORE_LIMIT]
    claim   .Lfunction_full
    and     x13, x30, #~7               // the site plus 8; kind 0 is `call`
    store_record
    to_body
end_of nopscope_function_entry

// void nopscope_graph_entry: a shadow frame and an `entry` record, then the body with x30 the return
// hook. A call that may not be recorded runs unhooked.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry.
// Out: x30 = the hook, or x9; at the body. Free: x9-x17. Frame: none.
function nopscope_graph_entry
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x14, x15, [x10, #CORE_LIMIT]
    cbz     x14, .Lto_body
    check_call .Lgraph_special
    // From here on every frame below x17 is alive, so an interrupt leaves the top where it is.
.Lgraph_push:
    add     x13, x17, #FRAME_BYTES      // publish the new top, then write the frame
    str     x13, [x10, #CORE_TOP]
    stp     x9, x12, [x17]
    claim   nopscope_graph_full
    and     x13, x30, #~7               // the site plus 8
    orr     x13, x13, #KIND_ENTRY
    mov     x10, x30
    adr     x30, nopscope_return_hook
    stp     x30, x12, [x17, #FRAME_HOOK]
    store_record
    ret     x10
end_of nopscope_graph_entry

// void nopscope_return_hook: where a hooked call returns to. A `ret` record, and on to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry. Out: at the caller's return address.
// Free: x9-x17, x30. Frame: none.
function nopscope_return_hook
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x15, x17, [x10, #CORE_RING]
    ldp     x9, x13, [x17, #-FRAME_BYTES]!
    cmp     sp, x13
    b.ne    .Lhook_mismatch
.Lhook_pop:
    ldr     x14, [x17, #FRAME_POSITION] // read the frame before it is released
    str     xzr, [x17, #FRAME_SP]
    str     x17, [x10, #CORE_TOP]
    claim
    lsl     w13, w14, #1                // index << 4, in positions of 8 bytes
    orr     w13, w13, #KIND_RET
    store_record
    ret     x9
end_of nopscope_return_hook

// ---- slow paths ------------------------------------------------------------------------------

// Recording is stopped, the ring is full, or (lossless) the pump has to make room.
// In: x14 the limit that was met. \again: where to try anew.
.macro ring_full again
    cbz     x14, .Lto_body
    ldr     x11, [x10, #CORE_LOSSLESS]
    cbz     x11, .Ldrop
    call_cxx nopscope_wait_for_room
    cbnz    x11, \again
    mrs     x10, NOPSCOPE_TPIDR
    b       .Ldrop
.endm
.Lfunction_full:
    ring_full nopscope_function_entry
// Adaptive: nothing is dropped, the call goes to the profile.
label nopscope_graph_full
    str     xzr, [x17, #FRAME_SP]
    str     x17, [x10, #CORE_TOP]
    cbz     x14, .Lto_body
    ldr     x11, [x10, #CORE_AGGREGATES]
    cbz     x11, .Lgraph_refuse
    call_cxx nopscope_overflow
    b       nopscope_profile_found
label nopscope_graph_full_end
.Lgraph_refuse:
    ring_full nopscope_graph_entry
.Ldrop:
    count   CORE_DROPPED
.Lto_body:
    to_body
.Lgraph_special:
    special_call nopscope_return_hook
    ldp     x14, x15, [x10, #CORE_LIMIT]
    b       .Lgraph_push
.Lhook_mismatch:
    special_return
    ldr     x15, [x10, #CORE_RING]
    b       .Lhook_pop
