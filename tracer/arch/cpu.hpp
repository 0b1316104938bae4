// SPDX-License-Identifier: Apache-2.0
// `struct Cpu`: the part that all Machines of an architecture share (contract:
// tracer/arch/machine.hpp). A Machine derives from it and adds what the board or the firmware
// knows: stores to text, the other cores, and the core's number if the CPU does not know it. Only
// for target code: the host's unit tests have a simulated Machine.
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(cpu.hpp)
