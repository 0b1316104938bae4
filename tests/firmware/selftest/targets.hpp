// SPDX-License-Identifier: Apache-2.0
// targets.arm64.S and targets.riscv64.S, for C++.
#pragma once

#include <cstdint>

extern "C" {

int selftest_patchable();

void selftest_hold(void* holding);
void selftest_clobber(std::uint64_t seed);

void selftest_undefined();
void selftest_brk();
void selftest_known_registers();
void selftest_load_from_sp(std::uint64_t sp);

int selftest_toggle();
extern const std::uint32_t selftest_toggle_branch;
void selftest_spin(const volatile std::uint32_t* until);
extern const char selftest_spin_end[];
}

// arm64's alone.
extern "C" {

extern const char selftest_land_nothing[], selftest_land_c[], selftest_land_j[], selftest_land_jc[],
    selftest_land_paciasp[];

void selftest_jump_blr(const void* where);
void selftest_jump_br(const void* where);
void selftest_jump_br_x16(const void* where);
void selftest_tamper_return(std::uint64_t bits);
void selftest_hvc();
}
