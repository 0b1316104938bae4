// SPDX-License-Identifier: Apache-2.0
// Entries that boot initialisation must refuse, an empty entry, and a duplicate entry. Also a way
// to call a function on another stack.

// The two NOPs before a function. \offset: how many bytes they are off 8-byte alignment.
.macro pre_nops offset=0
    .balign 8
    .if \offset
    .word   0
    .endif
1:  nop
    nop
.endm
.macro entry address
    .pushsection __patchable_function_entries, "aw", %progbits
    .balign 8
    .8byte  \address
    .popsection
.endm

    .section .text.selftest_bad_sites, "ax", %progbits
    pre_nops 4
    entry   1b
    .globl  selftest_bad_misaligned
selftest_bad_misaligned:
    hint    #34
    nop
    nop
    ret

    pre_nops
    entry   1b
    entry   1b                          // twice
    entry   0                           // empty
    .globl  selftest_bad_words
selftest_bad_words:
    hint    #34
    nop
    hint    #25                         // a PACIASP instead of a NOP
    ret

// Right words, but not in text.
    .section .rodata.selftest_bad_sites, "a", %progbits
    pre_nops
    entry   1b
    .globl  selftest_bad_outside
selftest_bad_outside:
    hint    #34
    nop
    nop
    ret

// In: x0 function, x1 its argument, x2 the stack it runs on. Out: x0. Frame: x19, x29, x30.
    .section .text.selftest_call_on_stack, "ax", %progbits
    .globl  selftest_call_on_stack
    .type   selftest_call_on_stack, %function
selftest_call_on_stack:
    hint    #34
    stp     x29, x30, [sp, #-32]!
    str     x19, [sp, #16]
    mov     x19, sp
    mov     x9, x0
    mov     x0, x1
    mov     sp, x2
    blr     x9
    mov     sp, x19
    ldr     x19, [sp, #16]
    ldp     x29, x30, [sp], #32
    ret
