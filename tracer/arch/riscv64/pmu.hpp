// SPDX-License-Identifier: Apache-2.0
// No event counters (contract: tracer/arch/pmu.hpp). A record's place and its events cannot be
// claimed together: RV64 has no store-conditional of 128 bits.
#pragma once

#include <cstdint>

namespace nopscope::arch {

inline unsigned event_counters() { return 0; }
inline bool has_event(std::uint32_t) { return false; }
inline void start_counters(std::uint32_t, std::uint32_t, unsigned) {}
inline std::uint64_t pause_counters() { return 0; }
inline void resume_counters(std::uint64_t) {}
inline std::uint64_t read_counters() { return 0; }
inline void write_counters(std::uint64_t) {}

}  // namespace nopscope::arch
