// SPDX-License-Identifier: Apache-2.0
/// \file
/// Interrupts in the recording: how long each takes, separate from the code that it interrupted,
/// and how long interrupts were masked. The firmware's vector, and code that masks interrupts,
/// report both:
///
///     void vector(Frame* frame) {                       // interrupts are masked
///         const unsigned number = acknowledge();
///         const auto begun = nopscope::interrupt_begin(number);
///         nopscope::interrupts_unmasked();
///         unmask();
///         handlers[number]();
///         mask();
///         nopscope::interrupts_masked(here);
///         nopscope::interrupt_end(begun);
///     }
///
/// On a core that has not joined these functions do nothing.
#pragma once

#include "nopscope/enabled.h"

#include <cstdint>

namespace nopscope {

/// \name Interrupts
/// \{

/// Records that an interrupt begins. Call it in the vector with interrupts masked. `number` is the
/// interrupt controller's, 25 bits. The host shows "(interrupt 27)", with the calls inside it up to
/// interrupt_end().
///
/// Returns the argument for interrupt_end(). 0: recording is stopped, or the ring is full (counted
/// in Counters::dropped), or the target is in adaptive mode. It works with any recorder. A thousand
/// interrupts a second take about 13 KB/s of the line. Interrupts may nest.
std::uint64_t interrupt_begin(std::uint32_t number);
/// Records that an interrupt ends. Call it in the vector with interrupts masked, on the same core,
/// and before any context_switch(). `begun` is what interrupt_begin() returned.
void interrupt_end(std::uint64_t begun);

/// Reports that code at the address `where` has just masked interrupts. Call it with interrupts
/// masked, in any context. It does nothing if they are reported as masked already, so calls need
/// not come in pairs. interrupt_begin() reports the same by itself.
void interrupts_masked(std::uint64_t where);
/// Reports that interrupts are about to be unmasked. Call it with interrupts masked, in any
/// context. interrupt_end() does it by itself. It records the masked section only if it was longer
/// than all before it on this core, so records are few. A section costs two reads of the clock.
void interrupts_unmasked();

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY std::uint64_t interrupt_begin(std::uint32_t) { return 0; }
NOPSCOPE_EMPTY void interrupt_end(std::uint64_t) {}
NOPSCOPE_EMPTY void interrupts_masked(std::uint64_t) {}
NOPSCOPE_EMPTY void interrupts_unmasked() {}
#endif

}  // namespace nopscope
