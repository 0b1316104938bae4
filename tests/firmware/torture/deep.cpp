// SPDX-License-Identifier: Apache-2.0
// Instrumented: as many open calls as are asked for.
#include "tests/firmware/torture/torture.hpp"

namespace torture {

TORTURE_CALL uint64_t deep(unsigned depth, void (*then)()) {
    if (depth > 0) return opaque(deep(depth - 1, then)) + 1;
    then();
    return 0;
}

}  // namespace torture
