// SPDX-License-Identifier: Apache-2.0
// The functions that the bench traces. All are empty and instrumented.
#pragma once

#include "firmware/bench/measure.hpp"

namespace bench {

inline constexpr unsigned many = 1024;
extern const BenchFunction functions[many];

// The function that the loops call. It is not in `functions`.
void traced();
// Calls work().
void around(void (*work)());

// Call it once after initialise(). Learns the site indexes, and checks that those of `functions`
// are consecutive.
void find_functions();
// The site index of `traced` or of a function in `functions`.
std::uint32_t index_of(BenchFunction function);

}  // namespace bench
