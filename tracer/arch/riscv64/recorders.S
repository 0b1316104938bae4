// SPDX-License-Identifier: Apache-2.0
// The function and the graph recorder: entries for a site's JALR, and the hook for the calls'
// returns. core.hpp has the rules of the ring and the shadow stack. An entry ends in JR t0: the
// return predictor pairs it with the site's JALR. A hook ends in JR t2, which it ignores.

#include "tracer/arch/riscv64/recorder.h"

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_function_entry: makes one `call` record and goes on to the body.
// In: t0 the body, ra the caller's return address. Out: at the body. Free: t1, t3-t6. Frame: none.
function nopscope_function_entry
    entry_unwinds
    ld      t3, CORE_LIMIT(tp)
    claim   t1, t4, t5, t3, .Lfunction_full
    mv      t6, t0                      // the site plus 8; kind 0 is `call`
    store_record t1, t4, t6, t5
    jr      t0
    .cfi_endproc
end_of nopscope_function_entry

// void nopscope_graph_entry: pushes a shadow frame, makes an `entry` record and goes on to the body
// with ra the return hook. A call that may not be recorded runs unhooked.
// In: t0 the body, ra the caller's return address, SP as at the function's entry. Out: ra = the
// hook, or as it was; at the body. Free: t1, t3-t6. Frame: none.
function nopscope_graph_entry
    entry_unwinds
    ld      t3, CORE_LIMIT(tp)
    beqz    t3, .Lto_body
    check_call .Lgraph_special
    // From here on every frame below t1 belongs to an open call, so no interrupt changes the top.
.Lgraph_push:
    push_frame
    claim   t4, t5, t6, t3, nopscope_graph_full
    la      ra, nopscope_return_hook
    sd      ra, SHADOW_HOOK(t1)
    sd      t4, SHADOW_POSITION(t1)
    ori     t3, t0, KIND_ENTRY          // the site plus 8
    store_record t4, t5, t3, t6
    jr      t0
    .cfi_endproc
end_of nopscope_graph_entry

// void nopscope_return_hook: a hooked call returns here. Makes a `ret` record and goes on to the
// caller.
// In: a0-a7, fa0-fa7 results, SP as at the call's entry. Out: at the caller's return address. Free:
// t0-t6, ra. Frame: none.
function nopscope_return_hook
    hook_unwinds
.Lgraph_hook:
    ld      t1, CORE_TOP(tp)
    ld      t3, SHADOW_SP - SHADOW_BYTES(t1)
    bne     sp, t3, .Lgraph_mismatch
.Lgraph_pop:
    addi    t1, t1, -SHADOW_BYTES
    ld      t2, (t1)                    // read the frame before it is released
    .cfi_register ra, t2
    ld      t6, SHADOW_POSITION(t1)
    sd      zero, SHADOW_SP(t1)
    sd      t1, CORE_TOP(tp)
    claim   t3, t4, t5
    slli    t6, t6, 1                   // index << 4, in positions of 8 bytes
    ori     t6, t6, KIND_RET
    store_record t3, t4, t6, t5
    jr      t2
    .cfi_endproc
end_of nopscope_return_hook

// ---- slow paths ----

// Recording is stopped, the ring is full, or (lossless) the pump has to make room. In: t3 the limit
// that was met. \again: where to retry. \before: instructions from there to here. \hook: where a tail
// call returns.
.macro ring_full again, before, hook
    beqz    t3, .Lto_body
    ld      t4, CORE_LOSSLESS(tp)
    beqz    t4, .Ldrop
    call_cxx nopscope_wait_for_room, moment=1, before=\before + 5, tail=\hook
    bnez    t3, \again
    j       .Ldrop
.endm
.Lfunction_full:
    entry_unwinds
    ring_full nopscope_function_entry, 3
// In adaptive mode no call is dropped: this one goes to the profile.
label nopscope_graph_full
    sd      zero, SHADOW_SP(t1)
    sd      t1, CORE_TOP(tp)
    beqz    t3, .Lto_body
    ld      t4, CORE_AGGREGATES(tp)
    beqz    t4, .Lgraph_refuse
    call_cxx nopscope_overflow
    j       nopscope_profile_found
label nopscope_graph_full_end
.Lgraph_refuse:
    ring_full nopscope_graph_entry, 20, nopscope_return_hook
.Ldrop:
    count_and_leave CORE_DROPPED
.Lto_body:
    jr      t0
.Lgraph_special:
    special_call nopscope_graph_entry, nopscope_return_hook
    ld      t3, CORE_LIMIT(tp)
    j       .Lgraph_push
    .cfi_endproc
.Lgraph_mismatch:
    hook_unwinds
    special_return nopscope_return_hook
    j       .Lgraph_pop
    .cfi_endproc

// No recorder counts events (pmu.hpp), so the forms that would are the plain ones.
.macro same name, as
    .globl  \name, \name\()_end
    .set    \name, \as
    .set    \name\()_end, \as\()_end
.endm
same nopscope_graph_events_entry, nopscope_graph_entry
same nopscope_graph_events_hook, nopscope_return_hook
