// SPDX-License-Identifier: Apache-2.0
    .arch armv8-a
    .section .text.switch_stacks, "ax", %progbits

// In: \op, stp or ldp. Saves or restores the callee-saved registers.
.macro callee_saved op
    \op     x19, x20, [sp]
    \op     x21, x22, [sp, #16]
    \op     x23, x24, [sp, #32]
    \op     x25, x26, [sp, #48]
    \op     x27, x28, [sp, #64]
    \op     x29, x30, [sp, #80]
    \op     d8, d9, [sp, #96]
    \op     d10, d11, [sp, #112]
    \op     d12, d13, [sp, #128]
    \op     d14, d15, [sp, #144]
.endm

// void switch_stacks(uint64_t* save_sp, uint64_t sp): resumes what was saved at `sp`. A
// new task's stack holds, from its SP up: x19-x28, x29, x30 (its entry), d8-d15.
    .globl switch_stacks
    .type switch_stacks, %function
switch_stacks:
    hint    #34                         // bti c
    sub     sp, sp, #160
    callee_saved stp
    mov     x9, sp
    str     x9, [x0]
    mov     sp, x1
    callee_saved ldp
    add     sp, sp, #160
    ret
    .size switch_stacks, . - switch_stacks
