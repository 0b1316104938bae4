// SPDX-License-Identifier: Apache-2.0
// The storm's functions storm_f0 to storm_f63, STRIDE bytes apart, with patch sites like the
// compiler's. Each returns its argument plus 1. Every other one has no landing pad and can only be
// branched to directly: so each function has a thunk.

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
storm_functions_slots:                  // the first function is 8 bytes further
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
