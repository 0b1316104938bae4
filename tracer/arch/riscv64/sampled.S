// SPDX-License-Identifier: Apache-2.0
// The sampled recorder: every n-th call on a core goes on to the graph recorder's entry.

#include "tracer/arch/riscv64/recorder.h"

    .section .text.nopscope_recorders, "ax", %progbits

// void nopscope_sampled_entry: goes on to the body, or to nopscope_graph_entry.
// In: t0 the body, ra the caller's return address, SP as at the function's entry. Out: at the body,
// or as they came in. Free: t1, t3-t6. Frame: none.
function nopscope_sampled_entry
    entry_unwinds
    addi    t3, tp, CORE_PASSED
1:  ld      t1, CORE_SAMPLE_NEXT(tp)
2:  lr.d    t4, (t3)
    bgeu    t4, t1, 3f
    addi    t4, t4, 1
    sc.d    t4, t4, (t3)
    bnez    t4, 2b
    jr      t0
3:  ld      t5, CORE_LIMIT(tp)
    beqz    t5, .Lto_body               // recording is stopped: nothing is counted
    ld      t5, CORE_SAMPLE_GAP(tp)
    addi    t6, tp, CORE_SAMPLE_NEXT
    add     t5, t5, t4
    lr.d    t4, (t6)
    bne     t4, t1, 1b                  // an interrupt's call took the turn, or recording stopped
    sc.d    t4, t5, (t6)
    bnez    t4, 1b
    j       nopscope_graph_entry
    .cfi_endproc
end_of nopscope_sampled_entry
