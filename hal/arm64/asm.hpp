// SPDX-License-Identifier: Apache-2.0
// Functions and labels that assembly and C++ share, beyond those of hal/parts.hpp.
#pragma once

#include <cstdint>

extern "C" {

// boot.S calls it with MMU and caches off. Returns the value for SCTLR_EL1. `device_tree`: x0 at
// entry; by the Linux boot protocol the device tree's address.
std::uint64_t nopscope_boot_early(unsigned exception_level, std::uint64_t device_tree);
// Where the other cores start: boot.S, MMU off.
extern const char nopscope_secondary_start[];

std::uint64_t nopscope_psci_hvc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
std::uint64_t nopscope_psci_smc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
}
