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

// The counter that the firmware's timers use, and the PMU's (Arm ARM DDI 0487, D13).
inline std::uint64_t read_ticks() {
    std::uint64_t ticks;
    asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}
inline std::uint64_t read_cycles() {
    std::uint64_t cycles;
    asm volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(cycles)::"memory");
    return cycles;
}
inline void write_cycles(std::uint64_t cycles) {
    asm volatile("msr pmccntr_el0, %0\n\tisb" ::"r"(cycles) : "memory");
}
inline bool has_cycle_counter() {
    constexpr unsigned not_architected = 15;
    std::uint64_t features;
    asm("mrs %0, id_aa64dfr0_el1" : "=r"(features));
    const unsigned version = features >> 8 & 15;
    return version != 0 && version != not_architected;
}
// Every cycle (PMCR.D off), 64 bits (LC), also where events must not be counted (DP off); at EL1 and EL0,
// not at EL2 (PMCCFILTR 0). What it has counted stays.
inline void start_cycles() {
    constexpr std::uint64_t e = 1 << 0, d = 1 << 3, dp = 1 << 5, lc = 1 << 6;
    std::uint64_t control;
    asm volatile("mrs %0, pmcr_el0" : "=r"(control));
    asm volatile("msr pmccfiltr_el0, xzr\n\tmsr pmcr_el0, %0\n\tmsr pmcntenset_el0, %1\n\tisb" ::"r"(
                     (control & ~(d | dp)) | e | lc),
                 "r"(std::uint64_t{1} << 31)
                 : "memory");
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
