// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

// What a fuzzer promises for any input.
inline void must(bool condition) {
    if (!condition) std::abort();
}
