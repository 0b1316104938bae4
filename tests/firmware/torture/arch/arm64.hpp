// SPDX-License-Identifier: Apache-2.0
// arm64 (contract: arch.hpp).
#pragma once

#include "hal/hal.hpp"
#include "tests/firmware/torture/arch.hpp"

namespace torture {

inline constexpr unsigned max_phase = 64;

struct RegisterFile {
    uint64_t x[9];  // x0-x8
    uint64_t x18_to_x30[13];
    uint64_t sp;
    uint64_t unused;
    uint64_t v[16];  // v0-v7, both halves
    uint64_t d[8];   // d8-d15

    uint64_t fp() const { return x18_to_x30[29 - 18]; }
};
static_assert(offsetof(RegisterFile, x18_to_x30) == 72);
static_assert(offsetof(RegisterFile, sp) == 176);
static_assert(offsetof(RegisterFile, v) == 192);
static_assert(offsetof(RegisterFile, d) == 320 && sizeof(RegisterFile) == 384);

inline constexpr RegisterSet register_sets[] = {
    {"x", 0, offsetof(RegisterFile, x), 9, After::results},
    {"v", 0, offsetof(RegisterFile, v), 16, After::results, 2},
    {"x", 18, offsetof(RegisterFile, x18_to_x30), 12, After::as_sent},
    {"d", 8, offsetof(RegisterFile, d), 8, After::as_sent},
};

inline constexpr bool counts_events = true;
// Records have the generic timer's clock.
inline unsigned instructions_a_tick() {
    return static_cast<unsigned>(1000000000 / nopscope::hal::clock_hz());
}

inline constexpr unsigned handler_per_ways = 2;

inline constexpr unsigned instruction_alignment = 4;
inline unsigned instruction_bytes(const char*) { return 4; }
inline bool is_off_path(const char* at) {
    constexpr uint32_t brk = 0xd4200000;  // tracer/arch/arm64/hook.h
    return *reinterpret_cast<const uint32_t*>(at) == brk;
}

[[gnu::always_inline]] inline void spoil_registers() {
    asm volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n mov x\\n, #-\\n\n .endr" ::
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
                       "x12", "x13", "x14", "x15", "x16", "x17", "cc", "memory");
}

}  // namespace torture
