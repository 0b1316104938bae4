// SPDX-License-Identifier: Apache-2.0
    .section .text.switch_stacks, "ax", %progbits

// In: \op, s or l, for sd or ld. Saves or restores the callee-saved registers.
.macro callee_saved op
    \op\()d ra, (sp)
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op\()d s\n, 8 + 8 * \n (sp)
    f\op\()d fs\n, 104 + 8 * \n (sp)
    .endr
.endm

// void switch_stacks(uint64_t* save_sp, uint64_t sp): resumes what was saved at `sp`. A
// new task's stack holds, from its SP up: ra (its entry), s0-s11, fs0-fs11.
    .globl switch_stacks
    .type switch_stacks, %function
switch_stacks:
    addi    sp, sp, -208
    callee_saved s
    sd      sp, (a0)
    mv      sp, a1
    callee_saved l
    addi    sp, sp, 208
    ret
    .size switch_stacks, . - switch_stacks

// void call_on_stack(uint64_t sp, void (*function)(unsigned), unsigned argument): calls
// function(argument) with that SP, on another stack, and returns on the caller's.
    .globl call_on_stack
    .type call_on_stack, %function
call_on_stack:
    addi    sp, sp, -16
    sd      ra, 8(sp)
    sd      s0, (sp)
    mv      s0, sp
    mv      sp, a0
    mv      a0, a2
    jalr    a1
    mv      sp, s0
    ld      ra, 8(sp)
    ld      s0, (sp)
    addi    sp, sp, 16
    ret
    .size call_on_stack, . - call_on_stack
