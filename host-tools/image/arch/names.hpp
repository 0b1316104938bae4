// SPDX-License-Identifier: Apache-2.0
// What users read and type of an architecture.
#pragma once

#include <string>
#include <vector>

#include "tracer/protocol/hello.hpp"

namespace nopscope::host::arch {

const char* name();              // "arm64"
const char* landing_pad_text();  // the instruction
const char* breakpoint_text();   // the instruction
const char* pmu_name();          // the architecture of its performance monitors
const char* event_registers();   // those that say which events the CPU counts
const char* hypervisor_level();  // the level that gives the tracer's its event counters
// "cntvct": of what counts a target's clock.
const char* clock_name(protocol::Clock clock);
// An argument's register, as `record --capture` takes it, is this letter and its number.
char argument_letter();
std::string argument_name(std::uint32_t number);

const char* emulator();                // QEMU's program
std::vector<std::string> compilers();  // programs, the first one preferred
const char* compiler_fix();            // how to get one

}  // namespace nopscope::host::arch
