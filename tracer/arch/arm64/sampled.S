// SPDX-License-Identifier: Apache-2.0
// The sampled recorder: every n-th call on a core goes on to the graph recorder's entry.

#include "tracer/arch/arm64/recorder.h"

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_sampled_entry: goes on to the body, or to nopscope_graph_entry.
// In: x30 the body, x9 the caller's return address, SP as at the function's entry. Out: x30 = x9,
// at the body; or x30 and x9 as they came in. Free: x9-x17. Frame: none.
function nopscope_sampled_entry
    entry_unwinds
    interrupted RESTARTS, nopscope_sampled_entry
    mrs     x10, NOPSCOPE_TPIDR
    add     x11, x10, #CORE_PASSED   // and CORE_SAMPLE_NEXT: changed together, by exclusives
1:  ldxp    x12, x13, [x11]
    cmp     x12, x13
    b.hs    2f
    add     x12, x12, #1
    stxp    w14, x12, x13, [x11]
    interrupted RESTARTS + UNLESS_W14_IS_0, nopscope_sampled_entry
    cbnz    w14, 1b
    interrupted 0
    to_body
    interrupted RESTARTS, nopscope_sampled_entry
2:  ldr     x14, [x10, #CORE_LIMIT]
    cbz     x14, .Lto_body              // recording is stopped: nothing is counted
    ldr     x15, [x10, #CORE_SAMPLE_GAP]
3:  ldxp    x12, x13, [x11]
    cmp     x12, x13
    b.lo    1b                          // an interrupt's call took the turn
    add     x13, x12, x15
    stxp    w14, x12, x13, [x11]
    interrupted RESTARTS + UNLESS_W14_IS_0, nopscope_sampled_entry
    cbnz    w14, 3b
    interrupted 0
    b       nopscope_graph_entry
    .cfi_endproc
end_of nopscope_sampled_entry
