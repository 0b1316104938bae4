// SPDX-License-Identifier: Apache-2.0
// The words for an architecture that users read and type.
#pragma once

#include <string>
#include <vector>

#include "tracer/protocol/hello.hpp"

namespace nopscope::host::arch {

const char* name();              // "arm64"
const char* landing_pad_text();  // the instruction
const char* breakpoint_text();   // the instruction
const char* pmu_name();          // the architecture of its performance monitors
const char* event_registers();   // the registers that select the events
const char* hypervisor_level();  // the level that gives the tracer event counters
// "cntvct": the counter that is the target's clock.
const char* clock_name(protocol::Clock clock);
// `record --capture` names an argument's register by this letter and a number.
char argument_letter();
std::string argument_name(std::uint32_t number);

const char* emulator();                // QEMU's program
std::vector<std::string> compilers();  // programs, the first one preferred
const char* compiler_fix();            // how to get one

}  // namespace nopscope::host::arch
