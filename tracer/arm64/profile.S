// SPDX-License-Identifier: Apache-2.0
// The profile recorder: a call's duration goes into the cell of its function and core. No record, no
// search: the slot's object holds the address of core 0's cell, the core its distance from that.
//
// Exact however interrupts nest, and none is masked: what an interrupt may change, too, is changed by
// exclusives, which here cost no more than masking would. The clock is read between the load and the
// store of Core::profiled, and an interrupt in between clears the monitor. So its time is either in this
// call's duration and in `profiled`, or in neither.

#include "tracer/arm64/recorder.h"

#define CORE_PROFILED    8      // ticks of the calls that ended at this level
#define CORE_CELLS       120    // distance of its cells from core 0's; and CORE_LIMIT

#define OPS_DATA         40     // the cell of core 0, at its total

#define FRAME_CELL       24
#define FRAME_START      32     // clock; and CORE_PROFILED as it was

// A cell is known by the address of its total; self follows, and then the bins, each at 8 times the leading
// zeros of its durations, 2 to 64.
#define CELL_MIN         -16    // and max

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_profile_entry: a shadow frame, then the body with x30 the profile's hook. A call that
// may not be recorded runs unhooked.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry.
// Out: x30 = the hook, or x9; at the body. Free: x9-x17. Frame: none.
function nopscope_profile_entry
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x15, x14, [x10, #CORE_CELLS]
    cbz     x14, .Lto_body
    check_call .Lprofile_special
.Lprofile_push:
    and     x16, x30, #~7
    ldr     x16, [x16, #-16]            // the slot's object, without a guard: quiescence.hpp
    ldr     x16, [x16, #OPS_DATA]
    cbz     x16, .Lprofile_without_slot
    add     x15, x15, x16
.Lprofile_frame:
    add     x13, x17, #FRAME_BYTES      // publish the new top, then write the frame
    str     x13, [x10, #CORE_TOP]
    stp     x9, x12, [x17]
    mov     x14, x30
    adr     x30, nopscope_profile_hook
    stp     x30, x15, [x17, #FRAME_HOOK]
    add     x10, x10, #CORE_PROFILED
1:  ldxr    x13, [x10]
    read_clock x11
    stxr    w16, x13, [x10]
    cbnz    w16, 1b
    stp     x11, x13, [x17, #FRAME_START]
    ret     x14
end_of nopscope_profile_entry

// void nopscope_profile_hook: where a profiled call returns to. Adds it to its cell, and on to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry. Out: at the caller's return address.
// Free: x9-x17, x30. Frame: none.
function nopscope_profile_hook
    mrs     x10, NOPSCOPE_TPIDR
    ldr     x17, [x10, #CORE_TOP]
    ldp     x9, x13, [x17, #-FRAME_BYTES]!
    cmp     sp, x13
    b.ne    .Lprofile_mismatch
.Lprofile_pop:
    ldr     x15, [x17, #FRAME_CELL]     // read the frame before it is released
    ldp     x12, x14, [x17, #FRAME_START]
    str     xzr, [x17, #FRAME_SP]
    str     x17, [x10, #CORE_TOP]
    add     x10, x10, #CORE_PROFILED
1:  ldxr    x16, [x10]
    read_clock x11
    subs    x11, x11, x12
    csel    x11, x11, xzr, pl           // the duration; the counter may have been read too early
    add     x13, x14, x11               // before the call, and the call
    stxr    w17, x13, [x10]
    cbnz    w17, 1b
    sub     x13, x13, x16               // self: the duration less the calls that ended in it
    ldp     x16, x17, [x15, #CELL_MIN]
    cmp     x11, x16
    ccmp    x11, x17, #CARRY, hs        // not below the minimum: above the maximum?
    b.hi    .Lprofile_extreme
.Lprofile_add:
2:  ldxp    x16, x17, [x15]
    add     x16, x16, x11
    add     x17, x17, x13
    stxp    w12, x16, x17, [x15]
    cbnz    w12, 2b
    clz     x14, x11
    add     x15, x15, x14, lsl #3
3:  ldxr    x14, [x15]
    add     x14, x14, #1
    stxr    w12, x14, [x15]
    cbnz    w12, 3b
    ret     x9
end_of nopscope_profile_hook

// ---- slow paths ------------------------------------------------------------------------------

// A call in the middle of a change, whose cell is not in its slot.
// In: x10 core, x9 return address, x30 the body; check_call's checks have been made. Free: x9-x17.
.Lprofile_without_slot:
    call_cxx nopscope_profile_cell
// And one of the graph recorder's that found the ring full. In: x11 its cell of core 0; 0: it has none.
label nopscope_profile_found
    cbz     x11, .Lto_body
    mrs     x10, NOPSCOPE_TPIDR
    mov     x12, sp
    ldr     x15, [x10, #CORE_CELLS]
    ldr     x17, [x10, #CORE_TOP]       // as it was: what interrupts push, they pop
    add     x15, x15, x11
    b       .Lprofile_frame
label nopscope_profile_found_end

.Lprofile_special:
    special_call nopscope_profile_hook, at_any_depth=1
    ldp     x15, x14, [x10, #CORE_CELLS]
    cbz     x14, .Lto_body
    b       .Lprofile_push
.Lto_body:
    to_body
.Lprofile_mismatch:
    special_return
    b       .Lprofile_pop

// A new minimum, a new maximum, or both. In: x15 the cell, x11 the duration. Keeps x9, x13.
.Lprofile_extreme:
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
    b       .Lprofile_add
