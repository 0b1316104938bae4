// SPDX-License-Identifier: Apache-2.0
// clang-format off
// For assembly: begins a function with a patch site like the compiler's, in a section of its own.
// \landing_pad: GCC omits it in functions that only BL reaches.

#ifdef __riscv_compressed
#define SITE_NOPS 4
#else
#define SITE_NOPS 2
#endif

.macro traced name, landing_pad=1
    .section .text.\name, "ax", %progbits
    .balign 8
.Lsite_\name:
    .rept   SITE_NOPS
    nop
    .endr
    .globl  \name
    .type   \name, %function
\name:
#ifndef __riscv
    .if \landing_pad
    hint    #34                         // bti c
    .endif
#endif
    .rept   SITE_NOPS
    nop
    .endr
    .pushsection __patchable_function_entries, "awo", %progbits, .text.\name
    .balign 8
    .8byte  .Lsite_\name
    .popsection
.endm
