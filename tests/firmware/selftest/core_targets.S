// SPDX-License-Identifier: Apache-2.0
// What core_tests.cpp patches and interrupts. Prototypes: core_tests.hpp.

    .text

// Out: w0 = 0, or 1 once its first word is the branch in selftest_toggle_branch: NOP and B may
// change under a core that runs them.
    .balign 8
    .global selftest_toggle
selftest_toggle:
    nop
    mov     w0, #0
    ret
toggled:
    mov     w0, #1
    ret

// B toggled, as selftest_toggle's first word has it.
    .section .rodata
    .balign 8
    .global selftest_toggle_branch
selftest_toggle_branch:
    .inst   0x14000000 | ((toggled - selftest_toggle) / 4)

    .text
// In: x0 a 32-bit word. Spins until it is not zero.
    .balign 8
    .global selftest_spin
    .global selftest_spin_end
selftest_spin:
    yield                               // under -icount the other cores get their turn
    ldr     w1, [x0]
    cbz     w1, selftest_spin
    ret
selftest_spin_end:
