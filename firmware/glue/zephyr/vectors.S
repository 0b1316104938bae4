// SPDX-License-Identifier: Apache-2.0
// Zephyr's vectors, with nopscope_defer before the one of interrupts at EL1.
#include <nopscope/defer.h>

    .section .text.nopscope_zephyr_vectors, "ax", %progbits
    .balign 2048
    .globl  nopscope_zephyr_vectors
nopscope_zephyr_vectors:
    .irp    offset, 0, 0x80, 0x100, 0x180, 0x200, 0x280, 0x300, 0x380, 0x400, 0x480, 0x500, 0x580, 0x600, 0x680, 0x700, 0x780
    .balign 128
    .if     \offset == 0x280
    nopscope_defer
    .endif
    b       _vector_table + \offset
    .endr
