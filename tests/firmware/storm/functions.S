// SPDX-License-Identifier: Apache-2.0
// The storm's functions: patch sites as the compiler makes them, storm_stride bytes apart, every other
// with a landing pad. Each returns its argument plus 1. Those without can only be branched to
// directly, hence a thunk for each. By name: storm_f0 to storm_f63.

#define STRIDE 64

    .altmacro
    .macro  named n
    .type   storm_f\n, %function
    .size   storm_f\n, 16
storm_f\n:
    .endm

    .section .text.storm_functions, "ax", %progbits
    .balign 8
    .globl  storm_functions_slots
storm_functions_slots:                  // the first function is 8 bytes on
    .set    n, 0
    .rept   64
1:  nop
    nop
    named   %n
    .if n & 1
    hint    #34                         // bti c
    .endif
    nop
    nop
    add     x0, x0, #1
    ret
    .skip   STRIDE - (. - 1b)
    .pushsection __patchable_function_entries, "aw", %progbits
    .balign 8
    .8byte  1b
    .popsection
    .set    n, n + 1
    .endr

    .balign 8
    .globl  storm_thunks
storm_thunks:                           // 8 bytes each
    .set    n, 0
    .rept   64
    hint    #34
    b       storm_functions_slots + 8 + STRIDE * n
    .set    n, n + 1
    .endr
