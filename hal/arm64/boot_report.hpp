// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Prints the lines "boot: ..." (docs/rpi4.md): board, core, clocks, interrupt controller and the
// next baud rate. `device_tree`: x0 at entry. Boot core, MMU and caches off, UART started.
void print_boot_report(unsigned exception_level, std::uint64_t device_tree);

}  // namespace nopscope::hal
