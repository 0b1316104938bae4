// SPDX-License-Identifier: Apache-2.0
// Interrupts in the recording: how long each takes, apart from what it interrupted, and how long interrupts were
// masked. The firmware's vector and what masks interrupts say so:
//
//     void vector(Frame* frame) {                       // interrupts are masked
//         const unsigned number = acknowledge();
//         const auto begun = nopscope::interrupt_begin(number);
//         nopscope::interrupts_unmasked(); unmask(); handlers[number](); mask(); nopscope::interrupts_masked(here);
//         nopscope::interrupt_end(begun);
//     }
//
// All of these are for a core that has joined; on another one they do nothing.
#pragma once

#include "nopscope/enabled.h"

#include <cstdint>

namespace nopscope {

// In the vector, interrupts masked. `number`: 25 bits, the controller's; the host shows "(interrupt 27)" with the
// calls that come before interrupt_end() in it. What it returns is for that. 0: recording is stopped, or there
// was no room (counted: dropped), or the target is in adaptive mode, where nothing would make room. Any recorder: a
// thousand a second take some 13 KB/s of the line. Interrupts nest; a switch of context comes after interrupt_end().
std::uint64_t interrupt_begin(std::uint32_t number);
void interrupt_end(std::uint64_t begun);

// Interrupts have just been masked by code at the address `where`, or are about to be unmasked. What is already so
// stays so: calls need not come in pairs. Interrupts that interrupt_begin() finds masked are so since then, and
// until interrupt_end() if nobody unmasks them before.
// A section that is longer than each before it (on this core, since reset) is recorded at its end: so there are few.
// Costs two reads of the clock a section.
void interrupts_masked(std::uint64_t where);
void interrupts_unmasked();

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY std::uint64_t interrupt_begin(std::uint32_t) { return 0; }
NOPSCOPE_EMPTY void interrupt_end(std::uint64_t) {}
NOPSCOPE_EMPTY void interrupts_masked(std::uint64_t) {}
NOPSCOPE_EMPTY void interrupts_unmasked() {}
#endif

}  // namespace nopscope
