// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Prints what the chain of frame records from `record` (x29) says, at most 32 lines, counting from
// #`first`. Stops at the first record that is not a plausible one. `link` (x30) is shown as a
// possible caller before them: a function without a frame of its own is in no record. 0: not shown.
void print_backtrace(std::uint64_t record, std::uint64_t link, unsigned first);

}  // namespace nopscope::hal
