// SPDX-License-Identifier: Apache-2.0
// The instruction words that the tracer writes or looks for, 4 bytes each. In nopscope::arch:
//
//     idle_word               the toggling word while nobody traces the function: does nothing
//     call_bytes              length of a call instruction in a hook
//     ToggleWord              the toggling word of every site: idle, or a call of one target
//       .at(base, offset)     that word, for the address base + offset; nothing is checked
//     always_idle             the ToggleWord that calls nothing
//     call_to(target)         the ToggleWord that calls `target`
//     call_reaches(at, to)    whether the word at `at` can call `to`
//     is_out_of_reach(to)     true: no word can call `to`, wherever it is. False: `at` decides
//     call_at(at, to)         the word at `at` that calls `to`; nothing if it is out of reach
//     instruction_alignment   bytes
//     is_call_before(machine, address)
//                             whether the instruction that ends at `address`, which is text, is a
//                             call that links
//
// All of it works on any host.
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(instructions.hpp)
