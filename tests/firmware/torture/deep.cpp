// SPDX-License-Identifier: Apache-2.0
// Instrumented. Opens as many calls as requested.
#include "tests/firmware/torture/torture.hpp"

namespace torture {

TORTURE_CALL uint64_t deep(unsigned depth, void (*then)()) {
    if (depth > 0) return opaque(deep(depth - 1, then)) + 1;
    then();
    return 0;
}

}  // namespace torture
