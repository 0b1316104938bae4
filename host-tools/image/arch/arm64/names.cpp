// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/names.hpp"

#include <fmt/format.h>

namespace nopscope::host::arch {

const char* name() { return "arm64"; }
const char* landing_pad_text() { return "bti c"; }
const char* breakpoint_text() { return "BRK"; }
const char* pmu_name() { return "PMUv3"; }
const char* event_registers() { return "PMCEID0_EL0 and PMCEID1_EL0"; }
const char* hypervisor_level() { return "EL2"; }
const char* clock_name(protocol::Clock clock) {
    switch (clock) {
    case protocol::Clock::timer: return "cntvct";
    case protocol::Clock::cycles: return "pmccntr";
    }
    return "unknown";
}
char argument_letter() { return 'x'; }
std::string argument_name(std::uint32_t number) {
    return fmt::format("{}{}", argument_letter(), number);
}

const char* emulator() { return "qemu-system-aarch64"; }
std::vector<std::string> compilers() { return {"aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc"}; }
const char* compiler_fix() {
    return "apt install gcc-aarch64-linux-gnu, or Arm's GNU Toolchain's bin/ on PATH";
}

}  // namespace nopscope::host::arch
