// SPDX-License-Identifier: Apache-2.0
// The parts of messages that are about arm64 (contract: tracer/arch/messages.hpp).
#pragma once

namespace nopscope::arch {

inline constexpr const char* wrong_level_text =
    "the tracer runs at EL1 only, and init() was called at another level";
inline constexpr const char* wrong_memory_text =
    "the rings (.nopscope.ring), the tracer's .bss and Config::profile_memory must be mapped "
    "writable, Normal write-back and inner shareable"
#ifdef NOPSCOPE_TPIDR_CONTEXTIDR
    "; for NOPSCOPE_TPIDR=contextidr the tracer's .bss must also be below 4 GiB"
#endif
    ;
inline constexpr const char* out_of_reach_text =
    "a recorder is more than 128 MiB away from a patch site";
inline constexpr const char* no_pmu_text = "the CPU has no performance monitors (PMUv3)";
inline constexpr const char* too_few_counters_text =
    "the CPU, or its EL2, gives fewer than two event counters";
inline constexpr const char* absent_event_text =
    "the CPU does not count that event: PMCEID0_EL0 and PMCEID1_EL0 name those it has";

}  // namespace nopscope::arch
