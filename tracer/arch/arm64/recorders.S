// SPDX-License-Identifier: Apache-2.0
// The function and the graph recorder: entries for a site's BL, and hooks for the calls' returns.
//
// At a function's entry x9-x17 are free; x0-x8, x18 and v0-v7 are not. At its return x0-x8 and
// v0-v7 may hold results; x9-x17 are free. So the hot paths save nothing. core.hpp has the rules of
// the ring and the shadow stack. Each hot path ends in RET, not BR: the return predictor pairs it
// with the site's BL, and RET needs no landing pad. hook.h has the hooks' part of this.
//
// There are two forms of the graph recorder: the plain one, and one that counts the PMU's events
// (events.hpp). It reads the counters where it reads the clock, between the exclusives that claim
// the record's place. An interrupt in between clears the monitor, and both are read again.
// Core::events says which events are counted. It lies beside the cursor and is read and written
// with it, so a change of events is such an interrupt, too.

#include "tracer/arch/arm64/recorder.h"

#define GRAPH_COUNTERS  SHADOW_REST    // counters and Core::events at the entry

#define EVENTS_BYTES     16     // bits of Core::events: the first of 16: a return's size in bytes
#define EVENTS_HEAD      32     // the first of the high word of a return's first word
#define EVENTS_TWO       63     // set: there are two events

    .arch armv8-a

// Claims a ring slot. In: x10 core, x14 limit. Goes to \full if the position is at or above the
// limit; without \full there is no limit. Out: x12 position, x11 clock. Changes x13, x16. For the
// call at \entry, also: x14 = x30, the body. \pushed: UNPUSHES if its frame has been pushed.
.macro claim full, entry, pushed=0
1:  ldxr    x12, [x10]
.ifnb \full
    cmp     x12, x14
    b.hs    \full
.endif
    read_clock x11
    add     x13, x12, #8
    stxr    w16, x13, [x10]
.ifnb \entry
    interrupted RESTARTS + UNLESS_W16_IS_0 + TAKES_BODY + FINISHES_X14 + \pushed, \entry
.endif
    cbnz    w16, 1b
.ifnb \entry
    mov     x14, x30
    .cfi_register DWARF_PC, 14
    interrupted FINISHES_X14
.endif
.endm

// Stores a record. In: x12 position, x11 clock, w13 its high word, x15 ring. Changes x11-x13.
.macro store_record
    eor     x13, x13, x12, lsr #LAP_SHIFT
    bfi     x11, x13, #32, #32
    and     x12, x12, #RING_MASK
    str     x11, [x15, x12]
.endm

// Claims a slot and stores a `ret`. In: x10 core, x15 ring, x14 position of the entry's record.
// Changes x11-x13, x16.
.macro put_ret
    claim
    lsl     w13, w14, #1                // index << 4, in positions of 8 bytes
    orr     w13, w13, #KIND_RET
    store_record
.endm

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_function_entry: makes one `call` record and goes on to the body.
// In: x30 the body, x9 the caller's return address. Out: x30 = x9, at the body. Free: x9-x17.
// Frame: none.
function nopscope_function_entry
    entry_unwinds
    interrupted RESTARTS, nopscope_function_entry
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x14, x15, [x10, #CORE_LIMIT]
    claim   .Lfunction_full, nopscope_function_entry
    and     x13, x30, #~7               // the site plus 8; kind 0 is `call`
    store_record
    mov     x30, x9
    ret     x14
    .cfi_endproc
end_of nopscope_function_entry

// void \entry: pushes a shadow frame, makes an `entry` record and goes on to the body with x30 the
// return hook. A call that may not be recorded runs unhooked.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry. Out: x30 = the
// hook, or x9; at the body. Free: x9-x17. Frame: none.
.macro graph_entry entry, hook, full, counts
function \entry
    entry_unwinds
    interrupted RESTARTS, \entry
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x14, [x10, #CORE_LIMIT]
    cbz     x14, .Lto_body
    check_call .Lspecial_\entry, x15
    // From here on every frame below x17 belongs to an open call, so no interrupt changes the top.
.Lpush_\entry:
    add     x13, x17, #SHADOW_BYTES      // publish the new top, then write the frame
    interrupted RESTARTS + UNPUSHES, \entry
    stp     x15, x13, [x10, #CORE_RING_AGAIN]
    stp     x9, x12, [x17]
.if \counts
.Lclaim_\entry:
    ldxp    x12, x15, [x10]
    cmp     x12, x14
    b.hs    \full
    read_clock x11
.Lread_\entry:
    read_counters x16, x13
    add     x13, x12, #8
    stxp    w14, x13, x15, [x10]
    interrupted RESTARTS + UNLESS_W14_IS_0 + TAKES_BODY + FINISHES_X14 + UNPUSHES, \entry
    cbnz    w14, .Lagain_\entry
    mov     x14, x30
    .cfi_register DWARF_PC, 14
    interrupted FINISHES_X14
    stp     x16, x15, [x17, #GRAPH_COUNTERS]
    ldr     x15, [x10, #CORE_RING]
.else
    claim   \full, \entry, UNPUSHES
.endif
    and     x13, x30, #~7               // the site plus 8; x14 may be nopscope_deferred's
    orr     x13, x13, #KIND_ENTRY
    adr     x30, \hook
    stp     x30, x12, [x17, #SHADOW_HOOK]
    store_record
    ret     x14
    .cfi_endproc
end_of \entry
.endm

// void \hook: a hooked call returns here. Makes a `ret` record and goes on to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// x9-x17, x30. Frame: none.
.macro graph_hook hook, counts
function \hook
    hook_unwinds
    interrupted RESTARTS, .Lbegun_\hook
    begin_hook
.Lbegun_\hook:
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x15, x17, [x10, #CORE_RING_AGAIN]
    ldp     x9, x13, [x17, #-SHADOW_BYTES]!
    cmp     sp, x13
    b.ne    .Lmismatch_\hook
.Lpop_\hook:
    .cfi_register 30, 9
    interrupted FINISHES_X9
    ldr     x14, [x17, #SHADOW_POSITION] // read the frame before it is released
.if \counts
    ldp     x16, x30, [x17, #GRAPH_COUNTERS]
.endif
    free_frame
    stp     x15, x17, [x10, #CORE_RING_AGAIN]
.if \counts
    cbz     x30, .Lplain_\hook
    mov     x17, x16
1:  ldxp    x12, x13, [x10]
    cmp     x13, x30
    b.ne    .Lplain_\hook               // the chosen events have changed since the entry
    read_clock x11
.Lread_\hook:
    read_counters x16, x13
    ubfx    x13, x30, #EVENTS_BYTES, #16
    add     x13, x12, x13
    stxp    w15, x13, x30, [x10]
    cbnz    w15, 1b
    ldr     x15, [x10, #CORE_RING]
    lsr     x10, x16, #32
    sub     w16, w16, w17
    lsr     x17, x17, #32
    sub     w17, w10, w17
    lsl     w13, w14, #1                // index << 4, in positions of 8 bytes
    orr     w13, w13, #KIND_RET
    store_word x12, 0, x11, x13, x15, x14
    lsr     x13, x30, #EVENTS_HEAD
    store_word x12, 1, x11, x13, x15, x14
    mov     x13, #DATA
    store_word x12, 2, x16, x13, x15, x14
    tbz     x30, #EVENTS_TWO, .Lone_\hook
.Lsecond_\hook:
    mov     x13, #DATA
    store_word x12, 3, x17, x13, x15, x14
.Lone_\hook:
    leave   x9
.else
    put_ret
    leave   x9
.endif
    .cfi_endproc
end_of \hook
.endm

graph_entry nopscope_graph_entry, nopscope_return_hook, nopscope_graph_full, counts=0
graph_hook nopscope_return_hook, counts=0
graph_entry nopscope_graph_events_entry, nopscope_graph_events_hook, .Lgraph_events_full, counts=1
graph_hook nopscope_graph_events_hook, counts=1

// ---- slow paths ----

// Recording is stopped, the ring is full, or (lossless) the pump has to make room. In: x14 the
// limit that was met. \again: where to retry. \before: instructions from there to here. \hook: where
// a tail call returns.
.macro ring_full again, before, hook
    cbz     x14, .Lto_body
    ldr     x11, [x10, #CORE_LOSSLESS]
    cbz     x11, .Ldrop
    call_cxx nopscope_wait_for_room, moment=1, before=\before + 5, tail=\hook
    cbnz    x11, \again
    b       .Ldrop
.endm
// Takes the frame at x17 off the shadow stack. In: x10 core. \entry: its recorder.
.macro unpush entry
    interrupted RESTARTS + UNPUSHES, \entry
    free_frame
    str     x17, [x10, #CORE_TOP]
    interrupted RESTARTS, \entry
.endm
.Lfunction_full:
    entry_unwinds
    interrupted RESTARTS, nopscope_function_entry
    ring_full nopscope_function_entry, 5
// In adaptive mode no call is dropped: this one goes to the profile.
label nopscope_graph_full
    unpush  nopscope_graph_entry
    cbz     x14, .Lto_body
    ldr     x11, [x10, #CORE_AGGREGATES]
    cbz     x11, .Lgraph_refuse
    call_cxx nopscope_overflow
    b       nopscope_profile_found
label nopscope_graph_full_end
.Lgraph_refuse:
    interrupted RESTARTS, nopscope_graph_entry
    ring_full nopscope_graph_entry, 22, nopscope_return_hook
.Lgraph_events_full:
    unpush  nopscope_graph_events_entry
    ring_full nopscope_graph_events_entry, 19, nopscope_graph_events_hook
.Ldrop:
    interrupted RESTARTS, .Ldrop
    mrs     x10, NOPSCOPE_TPIDR
    count_and_leave CORE_DROPPED, .Ldrop
.Lto_body:
    to_body
    .cfi_endproc
.macro graph_special entry, hook
.Lspecial_\entry:
    entry_unwinds
    special_call \entry, \hook
    ldp     x14, x15, [x10, #CORE_LIMIT]
    b       .Lpush_\entry
    .cfi_endproc
.Lmismatch_\hook:
    hook_unwinds
    interrupted RESTARTS, .Lbegun_\hook
    special_return \hook, .Lbegun_\hook
    ldr     x15, [x10, #CORE_RING]
    b       .Lpop_\hook
    .cfi_endproc
.endm
graph_special nopscope_graph_entry, nopscope_return_hook
graph_special nopscope_graph_events_entry, nopscope_graph_events_hook
.Lagain_nopscope_graph_events_entry:
    entry_unwinds
    interrupted RESTARTS + UNPUSHES, nopscope_graph_events_entry
    ldr     x14, [x10, #CORE_LIMIT]
    b       .Lclaim_nopscope_graph_events_entry
    .cfi_endproc
.Lplain_nopscope_graph_events_hook:
    hook_unwinds
    .cfi_register 30, 9
    interrupted FINISHES_X9
    ldr     x15, [x10, #CORE_RING]
    put_ret
    leave   x9
    .cfi_endproc

events_costs nopscope_graph_events_costs, nopscope_graph_events_entry, nopscope_graph_events_hook, \
    .Lone_nopscope_graph_events_hook - .Lsecond_nopscope_graph_events_hook
