// SPDX-License-Identifier: Apache-2.0
// The profile recorder adds a call's duration to the cell of its function and core. It makes no
// record and searches nothing: the slot's object holds the address of core 0's cell, and the core
// the distance from there to its own cell.
//
// Nested interrupts leave it exact, and it masks none. Exclusives change the data that an interrupt
// may change, too; here they cost no more than masking would. The clock is read between the load
// and the store of Core::profiled, and an interrupt in between clears the monitor. So the
// interrupt's time is in both this call's duration and `profiled`, or in neither. Where interrupts
// are deferred, none comes there, and plain loads and stores do.
//
// There are two forms: the plain one, and one that counts the PMU's events (events.hpp).
// Core::evented is for events what `profiled` is for time. Events are read in a section of their
// own, outside that of time, so the cost of counting is in the caller's time alone.
// CORE_PROFILE_EVENTS says which events are counted. It is read and written with `evented`. The
// frame keeps its low 16 bits with the cell. If they change during a call, the call is not counted.

#include "tracer/arch/arm64/recorder.h"

#define PROFILE_CELL      SHADOW_POSITION
#define PROFILE_START     SHADOW_REST        // clock and CORE_PROFILED at the entry
#define PROFILE_COUNTERS  SHADOW_REST + 16   // counters and CORE_EVENTED at the entry
#define CELL_BITS        48     // of the address in PROFILE_CELL; the bits above say which events

// A cell's address is that of its total. Its self time follows, and then the bins, each at 8 times
// the number of leading zeros of its durations, 2 to 64. CELL_EVENTS: total and self of the first
// event, of the second, and calls.

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// void \entry: pushes a shadow frame and goes on to the body with x30 the profile's hook. A call
// that may not be recorded runs unhooked.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry. Out: x30 = the
// hook, or x9; at the body. Free: x9-x17. Frame: none.
.macro profile_entry entry, hook, counts
function \entry
    entry_unwinds
    interrupted RESTARTS, \entry
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x15, x14, [x10, #CORE_CELLS]
    cbz     x14, .Lto_body
    check_call .Lspecial_\entry
.Lpush_\entry:
    and     x16, x30, #~7
    ldr     x16, [x16, #-16]            // the slot's object, without a guard: quiescence.hpp
    ldr     x16, [x16, #OPS_DATA]
    cbz     x16, .Lwithout_slot_\entry
    add     x15, x15, x16
    mov     x14, x30
.Lframe_\entry:
    .cfi_register DWARF_PC, 14
    interrupted FINISHES_X14
    add     x13, x17, #SHADOW_BYTES      // publish the new top, then write the frame
    str     x13, [x10, #CORE_TOP]
    stp     x9, x12, [x17]
    adr     x30, \hook
    stp     x30, x15, [x17, #SHADOW_HOOK]
.if \counts
    add     x10, x10, #CORE_EVENTED
2:  ldxp    x11, x12, [x10]
.Lread_\entry:
    read_counters x13, x16
    stxp    w16, x11, x12, [x10]
    cbnz    w16, 2b
    stp     x13, x11, [x17, #PROFILE_COUNTERS]
    bfi     x15, x12, #CELL_BITS, #64 - CELL_BITS
    str     x15, [x17, #PROFILE_CELL]
    add     x10, x10, #CORE_PROFILED - CORE_EVENTED
.else
    add     x10, x10, #CORE_PROFILED
.endif
#ifdef NOPSCOPE_DEFERS
    ldr     x13, [x10]
    read_clock x11
#else
1:  ldxr    x13, [x10]
    read_clock x11
    stxr    w16, x13, [x10]
    cbnz    w16, 1b
#endif
    stp     x11, x13, [x17, #PROFILE_START]
    ret     x14
    .cfi_endproc
end_of \entry
.endm

// void \hook: a profiled call returns here. Adds the call to its cell and goes on to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// x9-x17, x30. Frame: none.
.macro profile_hook hook, counts
function \hook
    hook_unwinds
    interrupted RESTARTS, .Lbegun_\hook
    begin_hook
.Lbegun_\hook:
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x17, [x10, #CORE_TOP]!
    ldp     x9, x13, [x17, #-SHADOW_BYTES]!
    cmp     sp, x13
    b.ne    .Lmismatch_\hook
.Lpop_\hook:
    .cfi_register 30, 9
    interrupted FINISHES_X9
    ldr     x15, [x17, #PROFILE_CELL]     // read the frame before it is released
    ldp     x12, x14, [x17, #PROFILE_START]
.if \counts
    sbfx    x15, x15, #0, #CELL_BITS    // the address; the frame stays until events are counted
    sub     x10, x10, #CORE_TOP - CORE_PROFILED
.else
    free_frame
    str     x17, [x10], #CORE_PROFILED - CORE_TOP
.endif
#ifdef NOPSCOPE_DEFERS
    ldp     x16, x30, [x10]             // and the cost of recording
#else
1:  ldxp    x16, x30, [x10]             // and the cost of recording
#endif
    read_clock x11
    subs    x11, x11, x12
    csel    x11, x11, xzr, pl           // the duration; the counter may have been read too early
    add     x13, x14, x11, lsl #PROFILED_SHIFT
    add     x13, x13, x30               // time before the call, the call, and its recording
#ifdef NOPSCOPE_DEFERS
    str     x13, [x10]
#else
    stxp    w17, x13, x30, [x10]
    cbnz    w17, 1b
#endif
    sub     x13, x13, x16               // self: minus the calls that ended in it
    ldp     x16, x17, [x15, #CELL_MIN]
    cmp     x11, x16
    ccmp    x11, x17, #CARRY, hs        // not below the minimum: above the maximum?
    b.hi    .Lextreme_\hook
.Ladd_\hook:
    add_pair x15, x11, x13, x16, x17, w12
    clz     x14, x11
    add     x15, x15, x14, lsl #3
    add_one x15, x14, w12
.if \counts
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x17, [x10, #CORE_TOP]
    sub     x17, x17, #SHADOW_BYTES
    ldr     x15, [x17, #PROFILE_CELL]
    add     x11, x10, #CORE_EVENTED
4:  ldp     x12, x14, [x17, #PROFILE_COUNTERS]
    ldxp    x16, x13, [x11]
    cbz     x13, .Luncounted_\hook      // no events are counted any more
    eor     x10, x13, x15, lsr #CELL_BITS
    tst     x10, #0xffff
    b.ne    .Luncounted_\hook           // or other events than at the entry
.Lread_\hook:
    read_counters x30, x10
    lsr     x10, x30, #32
    sub     w30, w30, w12
    lsr     x12, x12, #32
    sub     w10, w10, w12               // w30, w10: the call's events
    lsr     x12, x14, #32
    add     w14, w14, w30
    add     w12, w12, w10
    bfi     x14, x12, #32, #32          // events before the call, and the call's own
    stxp    w12, x14, x13, [x11]
    cbnz    w12, 4b
    free_frame
    str     x17, [x11, #CORE_TOP - CORE_EVENTED]
    sbfx    x15, x15, #0, #CELL_BITS
    add     x15, x15, #CELL_EVENTS
    sub     w17, w14, w16               // self: minus the calls that ended in it
    add_pair x15, x30, x17, x12, x13, w11
    add     x15, x15, #16
    lsr     x14, x14, #32
    lsr     x16, x16, #32
    sub     w17, w14, w16
    add_pair x15, x10, x17, x12, x13, w11
    add     x15, x15, #16
    add_one x15, x12, w11
.endif
    leave   x9
    .cfi_endproc
end_of \hook
.endm

// UnguardedCode (requests.cpp) needs this order.
profile_entry nopscope_profile_entry, nopscope_profile_hook, counts=0
profile_entry nopscope_profile_events_entry, nopscope_profile_events_hook, counts=1
profile_hook nopscope_profile_events_hook, counts=1
profile_hook nopscope_profile_hook, counts=0

// ---- slow paths ----

.macro profile_slow_entry entry, hook, found
// A call during a change, when the slot does not hold its cell. In: x10 core, x9 return address,
// x30 the body. check_call has accepted the call. Free: x9-x17.
.Lwithout_slot_\entry:
    entry_unwinds
    interrupted RESTARTS, \entry
    call_cxx nopscope_profile_cell
// And a graph recorder's call that found the ring full. In: x11 its cell of core 0; 0: it has none.
label \found
    cbz     x11, .Lto_body
    interrupted RESTARTS, \found
    mov     x14, x30
    mrs     x10, NOPSCOPE_TPIDR
    mov     x12, sp
    ldr     x15, [x10, #CORE_CELLS]
    ldr     x17, [x10, #CORE_TOP]       // unchanged: interrupts pop all that they push
    add     x15, x15, x11
    b       .Lframe_\entry
label \found\()_end
.Lspecial_\entry:
    special_call \entry, \hook, at_any_depth=1
    ldp     x15, x14, [x10, #CORE_CELLS]
    cbz     x14, .Lto_body
    b       .Lpush_\entry
    .cfi_endproc
.endm
.macro profile_slow_hook hook
.Lmismatch_\hook:
    hook_unwinds
    interrupted RESTARTS, .Lbegun_\hook
    sub     x10, x10, #CORE_TOP
    special_return \hook, .Lbegun_\hook, before=10
    add     x10, x10, #CORE_TOP
    b       .Lpop_\hook
// Stores a new minimum, a new maximum, or both. In: x15 the cell, x11 the duration. Keeps x9, x13.
.Lextreme_\hook:
    interrupted FINISHES_X9
    add     x10, x15, #CELL_MIN
4:  ldxr    x16, [x10]
    cmp     x11, x16
    csel    x16, x11, x16, lo
    stxr    w12, x16, [x10]
    cbnz    w12, 4b
    add     x10, x10, #8
5:  ldxr    x16, [x10]
    cmp     x11, x16
    csel    x16, x11, x16, hi
    stxr    w12, x16, [x10]
    cbnz    w12, 5b
    b       .Ladd_\hook
    .cfi_endproc
.endm

profile_slow_entry nopscope_profile_entry, nopscope_profile_hook, nopscope_profile_found
profile_slow_hook nopscope_profile_hook
profile_slow_entry nopscope_profile_events_entry, nopscope_profile_events_hook, nopscope_profile_events_found
profile_slow_hook nopscope_profile_events_hook
.Luncounted_nopscope_profile_events_hook:
    hook_unwinds
    .cfi_register 30, 9
    interrupted FINISHES_X9
    free_frame
    str     x17, [x11, #CORE_TOP - CORE_EVENTED]
    leave   x9
    .cfi_endproc

// u16[2], for any number of events. A new minimum or maximum takes 13 more instructions inside.
events_costs nopscope_profile_events_costs, nopscope_profile_events_entry, \
    nopscope_profile_events_hook
