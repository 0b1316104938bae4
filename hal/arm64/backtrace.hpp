// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Where a backtrace begins.
struct BacktraceStart {
    std::uint64_t record;    // x29
    std::uint64_t link = 0;  // x30; 0: not shown
    std::uint64_t sp = 0;
    std::uint64_t pc = 0;
    std::uint64_t x9 = 0;
    unsigned first = 0;  // the number of the first line
};

// Prints the return addresses of the chain of frame records, at most 32 lines. Stops at the first
// implausible record. Prints `link` first, as a possible caller: a leaf function has no frame
// record. Prints the real caller of a call whose return address the tracer has hooked.
void print_backtrace(const BacktraceStart& start);

}  // namespace nopscope::hal
