// SPDX-License-Identifier: Apache-2.0
// Entries that boot initialisation must refuse, an empty entry, and a duplicate entry.

    .option norelax

// Eight bytes of NOPs, as the compiler makes them.
.macro eight_bytes
#ifdef __riscv_compressed
    c.nop
    c.nop
    c.nop
    c.nop
#else
    nop
    nop
#endif
.endm
// The NOPs before a function. \offset: how many bytes they are off 8-byte alignment.
.macro pre_nops offset=0
    .balign 8
    .if \offset
    .word   0x13
    .endif
1:  eight_bytes
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
    eight_bytes
    ret

    .balign 8
    pre_nops
    entry   1b
    entry   1b                          // twice
    entry   0                           // empty
#ifdef __riscv_compressed
    c.nop
    c.nop
    c.nop
    c.ebreak                            // a debugger's breakpoint instead of the last NOP
#else
    nop
    ebreak
#endif
    ret

// Right words, but not in text.
    .section .rodata.selftest_bad_sites, "a", %progbits
    .balign 8
1:  .rept   8
    .2byte  1
    .endr
    entry   1b
    .word   0x8067                      // RET
