// SPDX-License-Identifier: Apache-2.0
    .arch armv8-a
    .section .text.selftest_switch_stacks, "ax", %progbits

// void selftest_switch_stacks(uint64_t* save_sp, uint64_t sp): resumes what was saved at `sp`. A
// new task's stack holds, from its SP up: x19-x28, x29, x30 (its entry), d8-d15.
    .globl selftest_switch_stacks
    .type selftest_switch_stacks, %function
selftest_switch_stacks:
    hint    #34                         // bti c
    sub     sp, sp, #160
    stp     x19, x20, [sp]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    mov     x9, sp
    str     x9, [x0]
    mov     sp, x1
    ldp     x19, x20, [sp]
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    add     sp, sp, #160
    ret
    .size selftest_switch_stacks, . - selftest_switch_stacks
