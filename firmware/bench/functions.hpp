// SPDX-License-Identifier: Apache-2.0
// The functions that are traced, all of them empty and instrumented.
#pragma once

#include "firmware/bench/measure.hpp"

namespace bench {

inline constexpr unsigned many = 1024;
extern const BenchFunction functions[many];

// The one that the loops call; none of the above.
void traced();
// Calls work().
void around(void (*work)());

// After initialise(), once: learns the site indexes, and checks that those of `functions` are in
// one piece.
void find_functions();
// The site index of `traced` or of one of `functions`.
std::uint32_t index_of(BenchFunction function);

}  // namespace bench
