// SPDX-License-Identifier: Apache-2.0
// Functions with an exactly known number of instructions and a patch site like the compiler's.

    .arch armv8-a

// void name(uint64_t rounds): 4 instructions, 3 for each round, and `tail`. `landing_pad`: GCC
// omits it in functions that only BL reaches.
.macro loop name, tail, landing_pad=1
    .section .text.\name, "ax", %progbits
    .balign 8
1:  nop
    nop
    .globl  \name
    .type   \name, %function
\name:
    .if \landing_pad
    hint    #34                         // bti c
    .endif
    nop
    nop
2:  nop
    subs    x0, x0, #1
    b.ne    2b
    .rept   \tail
    nop
    .endr
    ret
    .size   \name, . - \name
    .pushsection __patchable_function_entries, "awo", %progbits, .text.\name
    .balign 8
    .8byte  1b
    .popsection
.endm

loop counts_loop, 0
loop counts_loop_odd, 5
loop counts_loop_local, 0, landing_pad=0
