// SPDX-License-Identifier: Apache-2.0
// What a board's boot lines mean, and what in them is unusual.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/target/doctor/finding.hpp"
#include "host-tools/target/stream/boot_lines.hpp"

namespace nopscope::host {

// "Cortex-A72 r0p3", of MIDR_EL1.
std::string cpu_name(std::uint64_t midr);

// The rate nearest to `baud` that this board's UART makes of its clocks; 0: it makes none, or is
// not known.
double nearest_baud(const BootWords& words, std::uint64_t baud);

// First what the board is, then what is unusual.
Findings judge_board(const BootWords& words);

}  // namespace nopscope::host
