// SPDX-License-Identifier: Apache-2.0
// clang-format off
// For assembly: the first instructions of an IRQ vector in firmware whose interrupts switch tasks.
//
//     irq_vector:
//         nopscope_defer
//         ...                     // what the vector did before
//
// An interrupt that comes while the tracer records is taken a few instructions later, so no task is
// preempted there (docs/porting.md). It must be the first code of the IRQ vector, and of the FIQ
// vector if that switches tasks, with all registers as the interrupt found them, and 48 bytes of
// stack. It changes no register. Elsewhere it costs nine instructions. It is empty unless the
// tracer was built with NOPSCOPE_DEFER_INTERRUPTS.
#pragma once

#ifdef __ASSEMBLER__
.macro nopscope_defer
#ifdef NOPSCOPE_DEFERS
    stp     x0, x1, [sp, #-16]!
    mrs     x0, elr_el1
    adrp    x1, nopscope_recording
    add     x1, x1, :lo12:nopscope_recording
    sub     x0, x0, x1
    movz    x1, #:abs_g0:nopscope_recording_bytes
    cmp     x0, x1
    b.hs    .Lnopscope_take_\@
    adr     x1, .Lnopscope_take_\@
    b       nopscope_deferral
.Lnopscope_take_\@:
    ldp     x0, x1, [sp], #16
#endif
.endm
#endif
