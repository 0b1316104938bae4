// SPDX-License-Identifier: Apache-2.0
// The sentences of describe() that differ between architectures. In nopscope::arch:
//
//     wrong_level_text, wrong_memory_text, out_of_reach_text
//     no_pmu_text, too_few_counters_text, absent_event_text
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(messages.hpp)
