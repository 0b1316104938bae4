// SPDX-License-Identifier: Apache-2.0
// The CPU's counters: instructions, cycles, and the timer's ticks.
#pragma once

#include <cstdint>

namespace bench {

#ifdef __riscv

inline bool count_instructions() { return true; }
[[gnu::always_inline]] inline void read_all(std::uint64_t& instructions, std::uint64_t& cycles,
                                            std::uint64_t& ticks) {
    asm volatile("rdinstret %0\n\trdcycle %1\n\trdtime %2"
                 : "=r"(instructions), "=r"(cycles), "=r"(ticks)::"memory");
}

#else

// With the PMU's first event counter. False: this CPU cannot count instructions.
inline bool count_instructions() {
    constexpr std::uint64_t inst_retired = 0x08;  // Arm ARM DDI 0487, D13.11 "PMU events"
    std::uint64_t events;
    asm volatile("mrs %0, pmceid0_el0" : "=r"(events));
    if ((events >> inst_retired & 1) == 0) return false;
    asm volatile(
        "msr pmevtyper0_el0, %0\n\t"
        "msr pmevcntr0_el0, xzr\n\t"
        "msr pmcntenset_el0, %1\n\t"
        "isb" ::"r"(inst_retired),
        "r"(std::uint64_t{1})
        : "memory");
    return true;
}
[[gnu::always_inline]] inline void read_all(std::uint64_t& instructions, std::uint64_t& cycles,
                                            std::uint64_t& ticks) {
    asm volatile(
        "isb\n\t"
        "mrs %0, pmevcntr0_el0\n\t"
        "mrs %1, pmccntr_el0\n\t"
        "mrs %2, cntvct_el0\n\t"
        "isb"
        : "=r"(instructions), "=r"(cycles), "=r"(ticks)::"memory");
}

#endif

}  // namespace bench
