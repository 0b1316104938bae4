// SPDX-License-Identifier: Apache-2.0
// Explains a board's boot lines, and finds what is unusual in them.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/target/doctor/finding.hpp"
#include "host-tools/target/stream/boot_lines.hpp"

namespace nopscope::host {

// "Cortex-A72 r0p3", by the CPU's identification register, which the boot lines have.
std::string cpu_name(std::uint64_t id);

// The rate nearest to `baud` that this board's UART can make; 0: none, or the board is not known.
double nearest_baud(const BootWords& words, std::uint64_t baud);

// The findings about the board itself come first, then those about unusual values.
Findings judge_board(const BootWords& words);

}  // namespace nopscope::host
