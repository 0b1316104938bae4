// SPDX-License-Identifier: Apache-2.0
// The parts of messages that are about RISC-V (contract: tracer/arch/messages.hpp).
#pragma once

namespace nopscope::arch {

inline constexpr const char* wrong_level_text =
    "the tracer runs in M-mode only, and init() was called in another mode";
inline constexpr const char* wrong_memory_text =
    "the rings (.nopscope.ring), the tracer's .bss and Config::profile_memory must be writable "
    "main "
    "memory";
inline constexpr const char* out_of_reach_text =
    "the tracer's stubs are more than 2 GiB away from a patch site";
inline constexpr const char* no_pmu_text =
    "events are not counted on RISC-V: the tracer has no form of its recorders for them";
inline constexpr const char* too_few_counters_text = no_pmu_text;
inline constexpr const char* absent_event_text = no_pmu_text;

}  // namespace nopscope::arch
