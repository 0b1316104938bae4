// SPDX-License-Identifier: Apache-2.0
// Interrupts are not deferred (contract: tracer/arch/deferral.hpp).
#pragma once

namespace nopscope::arch {

inline constexpr bool defers_interrupts = false;
inline bool vector_defers() { return true; }
inline bool deferral_missed() { return false; }

}  // namespace nopscope::arch
