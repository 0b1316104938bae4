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

// void call_on_stack(uint64_t sp, void (*function)(unsigned), unsigned argument): calls
// function(argument) with that SP, on another stack, and returns on the caller's.
    .globl call_on_stack
    .type call_on_stack, %function
call_on_stack:
    hint    #34                         // bti c
    stp     x29, x30, [sp, #-16]!
    mov     x29, sp
    mov     sp, x0
    mov     w0, w2
    blr     x1
    mov     sp, x29
    ldp     x29, x30, [sp], #16
    ret
    .size call_on_stack, . - call_on_stack
