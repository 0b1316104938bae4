// SPDX-License-Identifier: Apache-2.0
// `struct Cpu`: what all Machines of an architecture have in common (contract:
// tracer/arch/machine.hpp). A Machine derives from it and adds what the board or the firmware
// knows: stores to text, the other cores, its number if the CPU does not know that. Only for target
// code: the host's unit tests have a simulated Machine.
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(cpu.hpp)
