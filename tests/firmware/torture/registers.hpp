// SPDX-License-Identifier: Apache-2.0
// The register check. registers.S calls; this says which registers must arrive and return.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace torture {

inline constexpr unsigned max_phase = 64;

struct RegisterFile {
    uint64_t x[9];  // x0-x8
    uint64_t x18_to_x30[13];
    uint64_t sp;
    uint64_t unused;
    uint64_t v[16];  // v0-v7, both halves
    uint64_t d[8];   // d8-d15
};
static_assert(offsetof(RegisterFile, x18_to_x30) == 72);
static_assert(offsetof(RegisterFile, sp) == 176);
static_assert(offsetof(RegisterFile, v) == 192);
static_assert(offsetof(RegisterFile, d) == 320 && sizeof(RegisterFile) == 384);

// Calls `function` with patterns of `seed` in every register, `from_sp` (a multiple of 16) bytes
// below; returns the name of the first register that was wrong inside or after, or nullptr.
const char* check_registers(void (*function)(), uint64_t seed, uint64_t from_sp);

}  // namespace torture

extern "C" {
// Instrumented; each stores what arrived and returns other patterns.
void torture_landing();  // layout with bti c
void torture_tail();     // tail-calls one without
void torture_chain();    // tail-calls torture_tail, which ends at its jump
void torture_nested();   // calls one without
void torture_leaping();  // calls one that jumps back into it instead of returning
void torture_call_registers(void (*function)(), uint64_t from_sp);
extern torture::RegisterFile torture_arguments, torture_results, torture_before_call,
    torture_arrived, torture_returned;

// When torture_delay is not 0, torture_call_registers arms the virtual timer that many ticks ahead,
// then executes torture_phase NOPs (at most max_phase), then calls.
extern uint64_t torture_delay, torture_phase;
}
