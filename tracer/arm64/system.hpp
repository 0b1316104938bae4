// SPDX-License-Identifier: Apache-2.0
// The few system registers the tracer itself needs. On the host (unit tests) there are none.
#pragma once

#include <cstdint>

namespace nopscope {

struct Core;

#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)

// TPIDR_EL1 is the tracer's: the recorders find their core there.
inline void set_current_core(Core* core) { asm volatile("msr tpidr_el1, %0" ::"r"(core)); }

inline Core* current_core() {
    Core* core;
    asm volatile("mrs %0, tpidr_el1" : "=r"(core));
    return core;
}

inline unsigned exception_level() {
    std::uint64_t level;
    asm("mrs %0, currentel" : "=r"(level));
    return static_cast<unsigned>(level >> 2) & 3;
}

// SCTLR_EL1.M and .C: exclusives and the records' memory need both.
inline bool mmu_and_cache_on() {
    constexpr std::uint64_t m_and_c = 1u << 0 | 1u << 2;
    std::uint64_t sctlr;
    asm volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
    return (sctlr & m_and_c) == m_and_c;
}

// In a loop that waits for another core.
inline void relax() { asm volatile("yield" ::: "memory"); }

[[noreturn]] inline void breakpoint() {
    for (;;) asm volatile("brk #0x6e73");  // "ns"
}

#else

inline void relax() {}

#endif

}  // namespace nopscope
