// SPDX-License-Identifier: Apache-2.0
// coherence_cases.S's site, alone in its cache line, and the trampolines that its BL may go to.

    .balign 1024                    // nothing else is in its line, nor in the two lines after it
    .skip   512 - 16
    .skip   8
    nop
    nop
site:
    nop
    nop
function:
    bti     c
site_mov:
    nop
site_word:
    nop
    cbz     x9, 1f
    mov     x9, xzr
1:  ret
    .balign 256

    .global nopscope_callback, nopscope_callback_end, nopscope_far
nopscope_callback:
    and     x10, x30, #~7
    ldr     x10, [x10, #-16]
#ifdef DELAYED
    mrs     x11, mpidr_el1
    tst     x11, #0xff
    b.eq    2f
    address x11, rounds
1:  isb
    ldr     w12, [x11]
    add     w12, w12, #1
    str     w12, [x11]
    yield
    ldr     w12, [x11, #leave - rounds]
    cbz     w12, 1b
2:
#endif
    ldr     x10, [x10, #8]          // OPS_DIRECT
    mov     x10, x30
    mov     x30, x9
    ret     x10
nopscope_callback_end:
nopscope_far:
    b       nopscope_callback
nopscope_far_end:
nopscope_callback_unguarded:
    nop
nopscope_callback_unguarded_made:
    nop
nopscope_callback_unguarded_end:
nopscope_walk_list:
    ret
guarded:
    ret
no_callback:
    ret
a_callback:
    ret
