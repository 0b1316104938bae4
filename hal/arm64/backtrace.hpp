// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Prints what the chain of frame records from `record` (x29) says, at most 32 lines, counting from
// #`first`. Stops at the first record that is not a plausible one.
void print_backtrace(std::uint64_t record, unsigned first);

}  // namespace nopscope::hal
