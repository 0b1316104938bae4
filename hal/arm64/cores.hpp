// SPDX-License-Identifier: Apache-2.0
// The HAL's own side of having several cores; firmware uses hal.hpp's and tracer/arch/machine.hpp's.
#pragma once

#include "hal/hal.hpp"
#include "tracer/arch/machine.hpp"

namespace nopscope::hal {

void find_cores();  // boot, MMU on

// False as long as the boot core has tried to start no other: no lock is needed then, and with the
// MMU off none would work.
bool others_started();

StackBounds emergency_stack_bounds(unsigned core);

// Runs what other cores ask of this one; `here` is what they are told. Interrupts masked. Does not
// return when the machine is ending.
void serve_core_calls(const Interrupted& here);

// Masks interrupts and makes this core the one that ends the machine: the others stop for ever.
// Returns after they have, or after 0.1 s; does not return when another core was first. May be
// called again.
void stop_other_cores();
// Stops for ever if another core ends the machine.
void stop_if_asked();

}  // namespace nopscope::hal
