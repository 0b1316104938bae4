// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

// Of the software interrupts 0..7. On arm64 firmware at EL3 leaves those to the Non-secure state.
// TF-A makes 8..15 Secure, and silently drops a Non-secure write that raises one.
inline constexpr unsigned core_call = 7;

void interrupts_start();       // boot: starts the controller with all interrupts disabled
void interrupts_start_core();  // each core, also the boot core: its own part and core calls
void interrupts_stop_core();   // after this no interrupt wakes this core
// How many exceptions this core has below the running code: 0 in thread context.
unsigned interrupt_depth();
// Like raise_interrupt_on without its checks.
void raise_core_call(unsigned core);

}  // namespace nopscope::hal
