// SPDX-License-Identifier: Apache-2.0
// Calls nopscope_init(x0) in other states of the CPU. The C prototypes are in refusals.c.

// x1: bits of SCTLR_EL1 to clear during the call.
    .globl init_with_sctlr_bits_off
init_with_sctlr_bits_off:
    stp     x29, x30, [sp, #-32]!
    stp     x19, x20, [sp, #16]
    mrs     x19, sctlr_el1
    bic     x1, x19, x1
    msr     sctlr_el1, x1
    isb
    bl      nopscope_init
    msr     sctlr_el1, x19
    isb
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #32
    ret

// Calls it at EL0 on the same stack. The handler skips undefined instructions. SVC returns to EL1.
    .globl init_at_el0
init_at_el0:
    stp     x29, x30, [sp, #-96]!
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    mrs     x19, vbar_el1
    str     x19, [sp, #-16]!
    adr     x1, vectors
    msr     vbar_el1, x1
    mrs     x1, sctlr_el1
    orr     x1, x1, #1 << 23        // SPAN: an exception leaves EL0's memory accessible at EL1
    msr     sctlr_el1, x1
    mov     x1, sp
    msr     sp_el0, x1
    adr     x1, 1f
    msr     elr_el1, x1
    mov     x1, #0x3c0              // EL0, all interrupts masked
    msr     spsr_el1, x1
    eret
1:  bl      nopscope_init
    svc     #0

back:
    ldr     x1, [sp], #16
    msr     vbar_el1, x1
    isb
    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     x29, x30, [sp], #96
    ret

    .section .text.boot, "ax"       // SUBALIGN(8) of .text would undo the alignment
    .balign 2048
vectors:
    .skip   0x400
    .balign 128                     // from EL0, synchronous; x16, x17 are free in a call
    mrs     x16, esr_el1
    lsr     x16, x16, #26
    cmp     x16, #0x15              // SVC
    b.eq    back
    mrs     x17, elr_el1
    add     x17, x17, #4
    msr     elr_el1, x17
    cbz     x16, 1f                 // undefined
    b       power_off
1:  eret
