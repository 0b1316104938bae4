// SPDX-License-Identifier: Apache-2.0
// Vectors that do not defer interrupts: each returns at once. For deferral_tests.arm64.cpp.
    .section .vectors, "ax"
    .balign 2048
    .globl  selftest_plain_vectors
selftest_plain_vectors:
    .rept   16
    .balign 0x80
    eret
    .endr
