// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Prints the lines "boot: ..." (docs/rpi4.md): board, core, clocks, interrupt controller and the
// next baud rate. `level`: the privilege level at entry; `device_tree`: what the loader passes as
// its address. Boot core, MMU and caches off, UART started.
void print_boot_report(const char* level, std::uint64_t device_tree);

// What the architecture's lines are made of: begin_line() prints "boot:" and its first words, the
// others print " key=value".
void begin_line(const char* first);
void decimal(const char* key, std::uint64_t value);
void hex(const char* key, std::uint64_t value);

}  // namespace nopscope::hal
