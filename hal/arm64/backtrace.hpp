// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Where a backtrace begins.
struct BacktraceStart {
    std::uint64_t record;       // x29
    std::uint64_t link = 0;     // x30; 0: not shown
    std::uint64_t sp = 0;
    std::uint64_t pc = 0;
    std::uint64_t x9 = 0;
    unsigned first = 0;         // number of the first line
};

// Prints what the chain of frame records says, at most 32 lines. Stops at the first record that is not a
// plausible one. `link` is shown as a possible caller before them: a function without a frame of its own is
// in no record. Where the tracer stands between a function and its caller, they show through.
void print_backtrace(const BacktraceStart& start);

}  // namespace nopscope::hal
