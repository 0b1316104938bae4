// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

// Of 0..7, which firmware at EL3 leaves to the Non-secure state; 8..15 are Secure behind TF-A, and a
// Non-secure write that raises one is dropped without a word.
inline constexpr unsigned core_call_sgi = 7;

void interrupts_start();       // boot: the controller, with everything disabled
void interrupts_start_core();  // each core, the boot core too: its own part; core calls may come
void interrupts_stop_core();   // nothing wakes this core from here on
// Exceptions below on this core: 0 in thread context.
unsigned interrupt_depth();
// Bypasses raise_sgi_on's checks.
void raise_core_call(unsigned core);

}  // namespace nopscope::hal
