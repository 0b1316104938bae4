// SPDX-License-Identifier: Apache-2.0
// RISC-V (contract: arch.hpp).
#pragma once

#include "tests/firmware/torture/arch.hpp"

namespace torture {

inline constexpr unsigned max_phase = 128;

struct RegisterFile {
    uint64_t x[9];   // a0-a7, t2
    uint64_t s[12];  // s0-s11
    uint64_t gp;
    uint64_t tp;    // the tracer's, not a pattern
    uint64_t fcsr;  // with a legal rounding mode
    uint64_t sp;
    uint64_t fa[8];   // fa0-fa7
    uint64_t fs[12];  // fs0-fs11
    uint64_t ft[12];  // ft0-ft11: a call may change them, the tracer and interrupts do not

    uint64_t fp() const { return s[0]; }
};
static_assert(offsetof(RegisterFile, s) == 72);
static_assert(offsetof(RegisterFile, gp) == 168 && offsetof(RegisterFile, tp) == 176);
static_assert(offsetof(RegisterFile, fcsr) == 184 && offsetof(RegisterFile, sp) == 192);
static_assert(offsetof(RegisterFile, fa) == 200 && offsetof(RegisterFile, fs) == 264);
static_assert(offsetof(RegisterFile, ft) == 360 && sizeof(RegisterFile) == 456);

inline constexpr RegisterSet register_sets[] = {
    {"a", 0, offsetof(RegisterFile, x), 8, After::results},
    {"t", 2, offsetof(RegisterFile, x) + 64, 1, After::anything},
    {"fa", 0, offsetof(RegisterFile, fa), 8, After::results},
    {"s", 0, offsetof(RegisterFile, s), 12, After::as_sent},
    {"fs", 0, offsetof(RegisterFile, fs), 12, After::as_sent},
    {"ft", 0, offsetof(RegisterFile, ft), 12, After::as_sent},
    {"x", 3, offsetof(RegisterFile, gp), 2, After::as_sent},  // gp, tp
    {"fcsr", 0, offsetof(RegisterFile, fcsr), 1, After::as_sent},
};

inline constexpr bool counts_events = false;
// Records have the cycle counter's clock.
inline unsigned instructions_a_tick() { return 1; }

// The HAL's way is longer than on arm64: software finds the most urgent interrupt.
inline constexpr unsigned handler_per_ways = 1;

inline constexpr unsigned instruction_alignment = 2;
inline unsigned instruction_bytes(const char* at) { return (*at & 3) == 3 ? 4 : 2; }
// NOPs: padding behind a function.
inline bool is_off_path(const char* at) {
    const auto* const halves = reinterpret_cast<const uint16_t*>(at);
    return halves[0] == 0x0001 || (halves[0] == 0x0013 && halves[1] == 0);
}

[[gnu::always_inline]] inline void spoil_registers() {
    asm volatile(
        ".irp r, ra,t0,t1,t2,t3,t4,t5,t6,a0,a1,a2,a3,a4,a5,a6,a7\n not \\r, zero\n .endr" ::
            : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5",
              "a6", "a7", "memory");
}

}  // namespace torture
