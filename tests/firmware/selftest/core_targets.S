// SPDX-License-Identifier: Apache-2.0
// Code that core_tests.cpp patches and interrupts. Prototypes: core_tests.hpp.

    .text

// Out: w0 = 0; 1 when its first word is selftest_toggle_branch. NOP and B may change while another
// core executes them.
    .balign 8
    .global selftest_toggle
selftest_toggle:
    nop
    mov     w0, #0
    ret
toggled:
    mov     w0, #1
    ret

// B toggled, as the first word of selftest_toggle.
    .section .rodata
    .balign 8
    .global selftest_toggle_branch
selftest_toggle_branch:
    .inst   0x14000000 | ((toggled - selftest_toggle) / 4)

    .text
// In: x0 the address of a 32-bit word. Spins until the word is not zero.
    .balign 8
    .global selftest_spin
    .global selftest_spin_end
selftest_spin:
    yield                               // with -icount: lets the other cores run
    ldr     w1, [x0]
    cbz     w1, selftest_spin
    ret
selftest_spin_end:
