// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Prints the lines that begin with "boot: ": the board, the core, the clocks, the interrupt controller, and at which
// rate the line goes on (docs/rpi4.md). `device_tree`: x0 at entry. Boot core, MMU and caches off, UART started.
void print_boot_report(unsigned exception_level, std::uint64_t device_tree);

}  // namespace nopscope::hal
