// SPDX-License-Identifier: Apache-2.0
// The register check. registers.NAME.S calls; arch.hpp says which registers must arrive and return.
#pragma once

#include "tests/firmware/torture/arch.hpp"

namespace torture {

// Calls `function` with patterns of `seed` in every register, `from_sp` (a multiple of 16) bytes
// below; returns the name of the first register that was wrong inside or after, or nullptr.
const char* check_registers(void (*function)(), uint64_t seed, uint64_t from_sp);

}  // namespace torture

extern "C" {
// Instrumented; each stores what arrived and returns other patterns.
void torture_landing();  // arm64: layout with bti c
void torture_tail();     // tail-calls one without
void torture_chain();    // tail-calls torture_tail, which ends at its jump
void torture_nested();   // calls one without
void torture_leaping();  // calls one that jumps back into it instead of returning
void torture_call_registers(void (*function)(), uint64_t from_sp);
extern torture::RegisterFile torture_arguments, torture_results, torture_before_call,
    torture_arrived, torture_returned;

// When torture_delay is not 0, torture_call_registers arms the timer that many ticks ahead,
// then executes torture_phase NOPs (at most max_phase), then calls.
extern uint64_t torture_delay, torture_phase;
}
