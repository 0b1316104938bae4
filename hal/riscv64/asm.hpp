// SPDX-License-Identifier: Apache-2.0
// Functions that assembly and C++ share, beyond those of hal/parts.hpp.
#pragma once

#include <cstdint>

extern "C" {

// boot.S calls it. `device_tree`: a1 at entry.
void nopscope_boot_early(std::uint64_t device_tree);
}
