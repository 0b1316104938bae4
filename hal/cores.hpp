// SPDX-License-Identifier: Apache-2.0
// Several cores, the HAL's internal part. A firmware uses hal.hpp and tracer/arch/machine.hpp.
#pragma once

#include "hal/hal.hpp"
#include "tracer/arch/machine.hpp"

namespace nopscope::hal {

void find_cores();  // boot, MMU on

// False until the boot core first tries to start another core. Until then no lock is needed, and no
// lock would work with the MMU off.
bool others_started();

StackBounds emergency_stack_bounds(unsigned core);

// Runs the calls that other cores request of this one. `here`: what the calls learn about this
// core. Interrupts masked. Does not return if another core is ending the machine.
void serve_core_calls(const Interrupted& here);

// Masks interrupts and makes this core the one that ends the machine: the others stop for ever.
// Returns when they have stopped, or after 0.1 s. Does not return if another core was first. May be
// called again.
void stop_other_cores();
// Stops this core for ever if another core is ending the machine.
void stop_if_asked();

}  // namespace nopscope::hal
