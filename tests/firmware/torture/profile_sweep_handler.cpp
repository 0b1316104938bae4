// SPDX-License-Identifier: Apache-2.0
// The profile sweep's interrupt: the sweep's, and a call of the function that it may have interrupted,
// so that both add to one cell.
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
