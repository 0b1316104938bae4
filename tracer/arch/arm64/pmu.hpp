// SPDX-License-Identifier: Apache-2.0
// The event counters of this core's PMU (contract: tracer/arch/pmu.hpp; Arm ARM DDI 0487, D13 and
// D24.5). The tracer uses counters 0 and 1. The cycle counter and the others stay as they are.
#pragma once

#include <cstdint>

namespace nopscope::arch {

inline constexpr std::uint64_t our_counters = 3;  // a bit each, in PMCNTENSET_EL0 and its like

#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)

// PMCR_EL0.N: at EL1 it is MDCR_EL2.HPMN.
inline unsigned event_counters() {
    std::uint64_t control;
    asm volatile("mrs %0, pmcr_el0" : "=r"(control));
    return control >> 11 & 31;
}

// PMCEID0_EL0 and PMCEID1_EL0 have a bit for events 0 to 0x3f and 0x4000 to 0x403f. No register
// tells whether the CPU has any other event.
inline bool has_event(std::uint32_t number) {
    if ((number & ~0x403fu) != 0) return false;
    std::uint64_t low, high;
    asm("mrs %0, pmceid0_el0\n\tmrs %1, pmceid1_el0" : "=r"(low), "=r"(high));
    const unsigned bit = (number & 0x1f) + (number >= 0x4000 ? 32 : 0);
    return (((number & 0x20) != 0 ? high : low) >> bit & 1) != 0;
}

// From here on this core counts at EL1 and EL0, without an interrupt when a counter wraps.
inline void start_counters(std::uint32_t first, std::uint32_t second, unsigned count) {
    constexpr std::uint64_t e = 1;
    std::uint64_t control;
    asm volatile("mrs %0, pmcr_el0" : "=r"(control));
    asm volatile(
        "msr pmcntenclr_el0, %0\n\tmsr pmintenclr_el1, %0\n\t"
        "msr pmevtyper0_el0, %1\n\tmsr pmevtyper1_el0, %2\n\t"
        "msr pmcntenset_el0, %3\n\tmsr pmcr_el0, %4\n\tisb" ::"r"(our_counters),
        "r"(std::uint64_t{first}), "r"(std::uint64_t{second}),
        "r"(count == 2 ? our_counters : std::uint64_t{1}), "r"(control | e)
        : "memory");
}

inline std::uint64_t pause_counters() {
    std::uint64_t counting;
    asm volatile("mrs %0, pmcntenset_el0\n\tmsr pmcntenclr_el0, %1\n\tisb"
                 : "=&r"(counting)
                 : "r"(our_counters)
                 : "memory");
    return counting & our_counters;
}
inline void resume_counters(std::uint64_t which) {
    asm volatile("isb\n\tmsr pmcntenset_el0, %0" ::"r"(which) : "memory");
}

// Both counters in one value, as the macro read_counters in recorder.h has them.
inline std::uint64_t read_counters() {
    std::uint64_t first, second;
    asm volatile("mrs %0, pmevcntr0_el0\n\tmrs %1, pmevcntr1_el0"
                 : "=r"(first), "=r"(second)::"memory");
    return static_cast<std::uint32_t>(first) | second << 32;
}
inline void write_counters(std::uint64_t both) {
    asm volatile("msr pmevcntr0_el0, %0\n\tmsr pmevcntr1_el0, %1\n\tisb" ::"r"(both & 0xffff'ffff),
                 "r"(both >> 32)
                 : "memory");
}

#else

inline std::uint64_t pause_counters() { return 0; }
inline void resume_counters(std::uint64_t) {}
inline std::uint64_t read_counters() { return 0; }
inline void write_counters(std::uint64_t) {}

#endif

}  // namespace nopscope::arch
