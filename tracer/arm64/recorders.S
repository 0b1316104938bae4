// SPDX-License-Identifier: Apache-2.0
// The recorders: what an enabled site's BL reaches, and the hook that hooked calls return to.
//
// At a function's entry x9-x17 are free; x0-x8, x18, v0-v7 are not. At its return x0-x8 and v0-v7
// may hold results; x9-x17 are free. So the hot paths save nothing. core.hpp has the ring's and
// the shadow stack's rules and asserts the offsets below. Each hot path ends in RET, not BR: the
// return predictor has paired the site's BL, and RET needs no landing pad.

#include "tracer/arm64/labels.h"

#ifndef NOPSCOPE_RING_LOG2
#define NOPSCOPE_RING_LOG2 18
#endif
#define RING_MASK  ((1 << NOPSCOPE_RING_LOG2) - 1)
#define LAP_SHIFT  (NOPSCOPE_RING_LOG2 - 2)

#define CORE_LIMIT       128    // and CORE_RING
#define CORE_RING        136    // and CORE_TOP
#define CORE_TOP         144    // and CORE_SHADOW_END
#define CORE_STACK_LOW   160
#define CORE_STACK_HIGH  168
#define CORE_DROPPED     176
#define CORE_UNHOOKED    184
#define CORE_FOREIGN     192
#define CORE_LOSSLESS    200

#define FRAME_BYTES      64
#define FRAME_SP         8
#define FRAME_HOOK       16     // and FRAME_POSITION
#define FRAME_POSITION   24

#define CARRY            2      // of NZCV: "higher or same"

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
    mrs     x11, cntvct_el0
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

// Leaves a trampoline for the traced function's body, unhooked.
.macro to_body
    mov     x10, x30
    mov     x30, x9
    ret     x10
.endm

// Adds one to the counter at x10 + \offset, against interrupts. Changes x11-x13.
.macro count offset
    add     x11, x10, #\offset
1:  ldxr    x12, [x11]
    add     x12, x12, #1
    stxr    w13, x12, [x11]
    cbnz    w13, 1b
.endm

// Calls name(core, SP, return address), C++, from a slow path; its result is in x11. Keeps x0-x9, x18,
// x30 and the stack's alignment; loses the rest of x10-x17. The tracer's C++ has no FP registers.
.macro call_cxx name
    sub     sp, sp, #96
    stp     x0, x1, [sp]
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x18, x30, [sp, #80]
    mov     x0, x10
    add     x1, sp, #96
    mov     x2, x9
    bl      \name
    mov     x11, x0
    ldp     x0, x1, [sp]
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x18, x30, [sp, #80]
    add     sp, sp, #96
.endm

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_function_entry: one `call` record, then the body.
// In: x30 the body, x9 the caller's return address. Out: x30 = x9, at the body.
// Free: x9-x17. Frame: none.
function nopscope_function_entry
    mrs     x10, tpidr_el1
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
    mrs     x10, tpidr_el1
    ldp     x14, x15, [x10, #CORE_LIMIT]
    cbz     x14, .Lto_body
    ldp     x17, x11, [x10, #CORE_TOP]
    ldr     x16, [x10, #CORE_STACK_LOW]
    mov     x12, sp
    ldr     x13, [x17, #FRAME_SP - FRAME_BYTES]
    cmp     x12, x16
    ccmp    x17, x11, #CARRY, hs        // SP at or above the stack's low end: top below the end?
    ccmp    x12, x13, #CARRY, lo        // and SP below the top frame's, or the sentinel's?
    b.hs    .Lgraph_special
    // From here on every frame below x17 is alive, so an interrupt leaves the top where it is.
.Lgraph_push:
    add     x13, x17, #FRAME_BYTES      // publish the new top, then write the frame
    str     x13, [x10, #CORE_TOP]
    stp     x9, x12, [x17]
    claim   .Lgraph_full
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
    mrs     x10, tpidr_el1
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
    mrs     x10, tpidr_el1
    b       .Ldrop
.endm
.Lfunction_full:
    ring_full nopscope_function_entry
.Lgraph_full:
    str     xzr, [x17, #FRAME_SP]
    str     x17, [x10, #CORE_TOP]
    ring_full nopscope_graph_entry
.Ldrop:
    count   CORE_DROPPED
    b       .Lto_body
.Lgraph_foreign:
    count   CORE_FOREIGN
    b       .Lto_body
.Lgraph_overflow:
    count   CORE_UNHOOKED
.Lto_body:
    to_body

// What the entry's three comparisons found: an SP (x12) outside the stack, no frame left, or a top frame
// whose SP (x13) is not above ours. The same SP and the hook as return address is a tail call: those
// nest. Anything else: calls that longjmp skipped, or a frame that the interrupted code is just writing.
.Lgraph_special:
    ldr     x14, [x10, #CORE_STACK_HIGH]
    cmp     x12, x16
    ccmp    x12, x14, #CARRY, hs
    b.hs    .Lgraph_foreign
    cmp     x12, x13
    b.lo    2f
    b.ne    1f
    adr     x14, nopscope_return_hook
    cmp     x9, x14
    b.eq    2f
1:  call_cxx nopscope_unwind_at_entry
    mrs     x10, tpidr_el1
    mov     x12, sp
2:  ldp     x17, x11, [x10, #CORE_TOP]
    cmp     x17, x11
    b.hs    .Lgraph_overflow
    ldp     x14, x15, [x10, #CORE_LIMIT]
    b       .Lgraph_push

// The top frame is not this call's: calls above it were skipped, or an interrupt has just popped
// such ones. Panics when none is.
.Lhook_mismatch:
    call_cxx nopscope_unwind_at_return
    mrs     x10, tpidr_el1
    ldr     x15, [x10, #CORE_RING]
    sub     x17, x11, #FRAME_BYTES
    ldr     x9, [x17]
    b       .Lhook_pop
