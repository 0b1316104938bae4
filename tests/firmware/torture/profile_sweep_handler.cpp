// SPDX-License-Identifier: Apache-2.0
// The profile sweep's interrupt: that of the sweep, and a call of a function that it may have
// interrupted, so that both add to the same cell.
#include "tests/firmware/torture/torture.hpp"

namespace torture {

void on_landing(unsigned interrupt);

TORTURE_CALL void shared() { asm volatile("" ::: "memory"); }

TORTURE_CALL void on_profile_landing(unsigned interrupt) {
    on_landing(interrupt);
    shared();
    asm volatile("" ::: "memory");  // not a tail call
}

}  // namespace torture
