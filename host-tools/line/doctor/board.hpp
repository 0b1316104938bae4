// SPDX-License-Identifier: Apache-2.0
// Explains a board's boot lines and reports unusual values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/line/stream/boot_lines.hpp"

namespace nopscope::host {

// A result of one check of `doctor`.
struct Finding {
    enum State : std::uint8_t { good, note, problem } state{};
    std::string what;  // "QEMU", "/dev/ttyUSB0"
    std::string text;
    std::string fix;  // empty: nothing to do
};
using Findings = std::vector<Finding>;

// Returns "Cortex-A72 r0p3" for the CPU's identification register, which the boot lines show.
std::string cpu_name(std::uint64_t id);

// The rate nearest to `baud` that this board's UART can make; 0: none, or an unknown board.
double nearest_baud(const BootWords& words, std::uint64_t baud);

// Returns the findings about the board itself, then those about unusual values.
Findings judge_board(const BootWords& words);

}  // namespace nopscope::host
