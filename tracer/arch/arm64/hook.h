// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: begins and ends a hook so that the stack of the CPU's return predictor stays balanced.
//
// The traced function's RET took the entry that the caller's BL had pushed. The hook's own RET
// would take the next one, which belongs to the caller's caller, so the CPU would predict each
// ancestor wrong. So a hook begins with a BL, which pushes an entry for its RET. x30 is free there.
//
// Without BTI, BR may go to any address and takes no entry. There init() changes the words
// (hook_forms.hpp): the BL becomes a B, the RET a BR. A list has the addresses of these words.
#pragma once

#define HOOK_WORDS .rodata.nopscope_hook_words

// Puts \label into the list: before its first word and behind its last (recording.S).
.macro hook_words_label label
    .pushsection HOOK_WORDS, "a", %progbits
    .balign 4
    .globl  \label
\label:
    .popsection
.endm
.macro hook_word at
    .pushsection HOOK_WORDS, "a", %progbits
    .word   \at - .
    .popsection
.endm

// The first instructions of a hook, at its label; the CPU executes only the BL. Some cores push no
// entry for a BL to the next instruction. So a BRK lies between: it stops speculation. Changes x30.
#define UNEXECUTED_AT_BEGIN 1       // instructions
.macro begin_hook
.Lbegin_\@:
    bl      .Lbegun_\@
    brk     #0
.Lbegun_\@:
    hook_word .Lbegin_\@
.endm

// Jumps to the address in \register. A hook goes on to the caller this way. A trampoline goes on to
// a direct entry, which then returns to the body in the trampoline's place.
.macro leave register
.Lleave_\@:
    ret     \register
    hook_word .Lleave_\@
.endm
