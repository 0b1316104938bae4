// SPDX-License-Identifier: Apache-2.0
// What the torture and the sweeps need to know of an architecture. Each of the two headers has:
//
//     max_phase               how many NOPs registers.NAME.S has before its call
//     RegisterFile            what it stores: x, as Regs::x, and sp; fp() is Regs::fp
//     register_sets           the words of it that are checked
//     counts_events           a recorder may count events
//     instructions_a_tick()   of the records' clock, with -icount shift=0
//     handler_per_ways        the sweeps' handler takes longer than this many ways in and out
//     instruction_alignment   in bytes
//     instruction_bytes(at)   the length of the instruction there
//     is_off_path(at)         no call executes it: padding, or what only a debugger needs
//     spoil_registers()       changes all registers that a callback may change
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace torture {

// What a row of registers must hold after the call. In the function it holds what was sent.
enum class After { as_sent, results, anything };

struct RegisterSet {
    const char* kind;
    unsigned first;  // its registers' numbers begin here
    size_t at;       // its offset in RegisterFile
    unsigned words;
    After after;
    unsigned words_each = 1;
};

}  // namespace torture

#ifdef __riscv
#include "tests/firmware/torture/arch/riscv64.hpp"
#else
#include "tests/firmware/torture/arch/arm64.hpp"
#endif
