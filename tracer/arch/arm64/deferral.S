// SPDX-License-Identifier: Apache-2.0
// Interrupts are deferred: no task is ever preempted while it uses a core's ring or shadow stack.
//
// This is for firmware whose interrupts switch tasks (CMake: NOPSCOPE_DEFER_INTERRUPTS). Its IRQ
// vector begins with the macro nopscope_defer (nopscope/defer.h). If the interrupt came in the code
// of recording.S, the macro branches to nopscope_deferral, which looks up a rule by the address.
// Each `interrupted` (recorder.h) is a rule. It holds for the code up to the next.
// - No rule: the interrupt is taken here. The code uses no core's data: it may go on on another.
// - RESTARTS: nothing has been stored. ELR becomes an earlier instruction, from which the code
//   reads the core anew, and the interrupt is taken there. A rule with UNPUSHES takes back the one
//   store that precedes: the top of the shadow stack.
// - FINISHES: something has been stored. The code ends with a RET to x9 or x14. That register
//   becomes nopscope_deferred's address, and the code goes on with interrupts masked. It has fewer
//   than 100 instructions to go. nopscope_deferred restores the masks, and so the interrupt, which
//   nobody has acknowledged, is taken there.
// So code under a rule needs no exclusives for what only its own core changes. The cursor is not
// such a word: the pump of another core puts records into a ring, too.
#ifdef NOPSCOPE_DEFERS

    .arch armv8-a

    .section .text.nopscope_deferral, "ax", %progbits

// Executes the rule for ELR_EL1. In: interrupts masked, x0 ELR_EL1 minus nopscope_recording, x1
// where the vector goes on, SP at the interrupted x0 and x1; all else as it was interrupted. Out:
// at x1 with ELR_EL1 changed, SP and the other registers the same. Or at the interrupted code by
// ERET, with the masks of IRQ and FIQ.
function nopscope_deferral
    stp     x2, x3, [sp, #-32]!
    stp     x4, x5, [sp, #16]
    lsr     x0, x0, #2
    adrp    x2, nopscope_rules
    add     x2, x2, :lo12:nopscope_rules
    movz    x3, #:abs_g0:nopscope_rule_count
1:  lsr     x4, x3, #1                  // binary search: the rule is one of x3 at x2
    add     x5, x2, x4, lsl #3
    ldrh    w5, [x5]
    cmp     w5, w0
    b.hi    2f
    add     x2, x2, x4, lsl #3
    sub     x4, x3, x4
2:  mov     x3, x4
    cmp     x3, #1
    b.ne    1b
    ldrh    w3, [x2, #8]                // where the next rule begins
    ldrh    w4, [x2, #2]                // where to begin again
    ldr     w5, [x2, #4]
    cbz     w5, .Ltake
    mrs     x2, NOPSCOPE_TPIDR
    str     x0, [x2, #CORE_DEFERRAL_AT]
    tbz     w5, #2, 2f                  // UNLESS_W16_IS_0
    cbz     w16, .Lstored
2:  tbz     w5, #3, 3f                  // UNLESS_W14_IS_0
    cbz     w14, .Lstored
3:  tbz     w5, #0, .Lfinish            // RESTARTS
    tbz     w5, #1, 4f                  // UNPUSHES
    str     x17, [x10, #CORE_TOP]
4:  adrp    x2, nopscope_recording
    add     x2, x2, :lo12:nopscope_recording
    add     x2, x2, x4, lsl #2
    msr     elr_el1, x2
.Ltake:
    ldp     x4, x5, [sp, #16]
    ldp     x2, x3, [sp], #32
    ret     x1
.Lstored:
    tbz     w5, #4, .Lfinish            // TAKES_BODY
    mov     x14, x30
    adrp    x2, nopscope_recording
    add     x2, x2, :lo12:nopscope_recording
    add     x2, x2, x3, lsl #2
    msr     elr_el1, x2
.Lfinish:
    tst     w5, #FINISHES_X9 + FINISHES_X14
    b.eq    .Ltake
    mrs     x0, NOPSCOPE_TPIDR
    mrs     x2, spsr_el1
    orr     x3, x2, #0xc0               // I and F
    msr     spsr_el1, x3
    and     x2, x2, #0x3c0              // D, A, I, F
    adrp    x3, nopscope_deferred
    add     x3, x3, :lo12:nopscope_deferred
    tbz     w5, #6, 5f                  // FINISHES_X14
    stp     x14, x2, [x0, #CORE_DEFERRED_EXIT]
    mov     x14, x3
    b       6f
5:  stp     x9, x2, [x0, #CORE_DEFERRED_EXIT]
    mov     x9, x3
6:  ldp     x4, x5, [sp, #16]
    ldp     x2, x3, [sp], #32
    ldp     x0, x1, [sp], #16
    eret
end_of nopscope_deferral

// An interrupt found this core here, with a recorder's or hook's RET still to come. Restores the
// masks and goes on where that RET should have gone. ELR_EL1 is not needed: it must not look as if
// an interrupt had been taken there (deferral_missed()). In: interrupts masked. Free: x9-x17.
function nopscope_deferred
    .cfi_startproc
    .cfi_undefined DWARF_PC
    mrs     x10, NOPSCOPE_TPIDR
    ldp     x11, x12, [x10, #CORE_DEFERRED_EXIT]
    .cfi_register DWARF_PC, 11
    msr     elr_el1, xzr
    msr     daif, x12                   // the interrupt is taken behind this
    ret     x11
    .cfi_endproc
end_of nopscope_deferred

// bool nopscope_try_vector(uint64_t vector, uint64_t spsr): true if the IRQ vector defers. It goes
// to the vector as the CPU does for an interrupt, as if that had come at the RET below, which has a
// rule. spsr: SPSR_EL1 for the return. In: interrupts masked. In, Out, Free: AAPCS. Frame: none.
function nopscope_try_vector
    hint    #34                         // bti c
    mrs     x10, NOPSCOPE_TPIDR
    str     xzr, [x10, #CORE_DEFERRED_EXIT]
    msr     spsr_el1, x1
    adrp    x11, .Lprobe
    add     x11, x11, :lo12:.Lprobe
    msr     elr_el1, x11
    adr     x14, 1f
    msr     spsel, #1                   // as the CPU does; ERET takes it back
    isb
    ret     x0
1:  mrs     x10, NOPSCOPE_TPIDR
    ldr     x11, [x10, #CORE_DEFERRED_EXIT]
    cmp     x11, #0
    cset    w0, ne
    ret
end_of nopscope_try_vector

    .section .text.nopscope_recorders, "ax", %progbits
.Lprobe:
    interrupted FINISHES_X14
    ret     x14
    interrupted 0

    .section .rodata.nopscope_rules, "a", %progbits
    .set    nopscope_rule_count, (. - nopscope_rules) / 8
    .globl  nopscope_rule_count
    .hword  0xffff, 0                   // above every address
    .word   0
#endif
