// SPDX-License-Identifier: Apache-2.0
// What sites call: a J to each recorder and trampoline, in two copies (instructions.hpp). A stub
// keeps t0, by which the site's JALR links.

.macro stub_jumps
    j       nopscope_callback
    j       nopscope_callback_unguarded
    j       nopscope_far
    j       nopscope_function_entry
    j       nopscope_graph_entry
    j       nopscope_profile_entry
    j       nopscope_duration_entry
    j       nopscope_sampled_entry
    .rept   8                           // no site calls these
    ebreak
    .endr
.endm

    .section .text.nopscope_recorders, "ax", %progbits
    .balign 64
label nopscope_stubs
    .option push
    .option norvc
    stub_jumps
    stub_jumps
    .option pop

// By number. 0: nothing jumps there.
    .section .rodata.nopscope_stub_targets, "a", %progbits
    .balign 8
label nopscope_stub_targets
    .quad   nopscope_callback, nopscope_callback_unguarded, nopscope_far, nopscope_function_entry
    .quad   nopscope_graph_entry, nopscope_profile_entry, nopscope_duration_entry
    .quad   nopscope_sampled_entry
    .quad   0, 0, 0, 0, 0, 0, 0, 0
