// SPDX-License-Identifier: Apache-2.0
// Entries that boot initialisation must refuse, an empty entry, and a duplicate entry.

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
    hint    #34
    nop
    nop
    ret

    pre_nops
    entry   1b
    entry   1b                          // twice
    entry   0                           // empty
    hint    #34
    nop
    hint    #25                         // a PACIASP instead of a NOP
    ret

// Right words, but not in text.
    .section .rodata.selftest_bad_sites, "a", %progbits
    pre_nops
    entry   1b
    hint    #34
    nop
    nop
    ret
