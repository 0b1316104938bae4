// SPDX-License-Identifier: Apache-2.0
// Power State Coordination Interface (Arm DEN 0022), SMC Calling Convention function ids.
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline constexpr std::uint64_t psci_cpu_off = 0x8400'0002;
inline constexpr std::uint64_t psci_system_off = 0x8400'0008;
inline constexpr std::uint64_t psci_system_reset = 0x8400'0009;
inline constexpr std::uint64_t psci_cpu_on = 0xc400'0003;         // MPIDR, entry, context id
inline constexpr std::uint64_t psci_affinity_info = 0xc400'0004;  // MPIDR, level

inline constexpr int psci_success = 0;
inline constexpr int psci_not_supported = -1;

// Calls PSCI and returns its answer; psci_not_supported on a board without PSCI.
int psci(std::uint64_t function, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0);

}  // namespace nopscope::hal
