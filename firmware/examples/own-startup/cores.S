// SPDX-License-Identifier: Apache-2.0
// The entry of the other cores, and the interrupt vector of all. The C prototypes are in cores.c.
    .text
    .globl core_entry
core_entry:                     // x0: the end of its stack. MMU off
    mov     sp, x0
    bl      mmu_enable
    bl      core_main
1:  wfi
    b       1b

    .globl set_vectors
set_vectors:
    adrp    x0, core_vectors
    add     x0, x0, :lo12:core_vectors
    msr     vbar_el1, x0
    isb
    ret

// uint64_t psci_cpu_on(uint64_t affinity, uint64_t entry, uint64_t context)
    .globl psci_cpu_on
psci_cpu_on:
    mov     x3, x2
    mov     x2, x1
    mov     x1, x0
    movz    w0, #0xc400, lsl #16
    movk    w0, #3
    hvc     #0
    ret

interrupt:
    stp     x0, x1, [sp, #-192]!
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x29, [sp, #144]
    mrs     x0, elr_el1
    mrs     x1, spsr_el1
    stp     x30, x0, [sp, #160]
    str     x1, [sp, #176]
    bl      take_interrupt      // x0: the interrupted PC
    ldr     x1, [sp, #176]
    ldp     x30, x0, [sp, #160]
    msr     spsr_el1, x1
    msr     elr_el1, x0
    ldp     x18, x29, [sp, #144]
    ldp     x16, x17, [sp, #128]
    ldp     x14, x15, [sp, #112]
    ldp     x12, x13, [sp, #96]
    ldp     x10, x11, [sp, #80]
    ldp     x8, x9, [sp, #64]
    ldp     x6, x7, [sp, #48]
    ldp     x4, x5, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp], #192
    eret

    .section .text.boot, "ax"   // SUBALIGN(8) of .text would undo the alignment
    .balign 2048
core_vectors:
    .rept   5
    .balign 128
    b       power_off
    .endr
    .balign 128
    b       interrupt           // IRQ, on this level's own stack
    .rept   10
    .balign 128
    b       power_off
    .endr
