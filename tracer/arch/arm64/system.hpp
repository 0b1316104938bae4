// SPDX-License-Identifier: Apache-2.0
// The few system registers that the tracer itself needs (contract: tracer/arch/system.hpp).
#pragma once

#include "tracer/arch/arm64/reserved_register.h"
#include "tracer/protocol/hello.hpp"

#include <cstdint>

namespace nopscope {

struct Core;

namespace arch {

#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)

inline constexpr protocol::Architecture architecture = protocol::Architecture::arm64;

#define NOPSCOPE_TEXT_OF(name) #name
#define NOPSCOPE_NAME_OF(macro) NOPSCOPE_TEXT_OF(macro)
#define NOPSCOPE_TPIDR_NAME NOPSCOPE_NAME_OF(NOPSCOPE_TPIDR)
inline void set_current_core(Core* core) {
    asm volatile("msr " NOPSCOPE_TPIDR_NAME ", %0" ::"r"(core));
}

// CONTEXTIDR_EL1 has 32 bits.
inline bool current_core_can_be_at([[maybe_unused]] std::uint64_t address) {
#ifdef NOPSCOPE_TPIDR_CONTEXTIDR
    return address >> 32 == 0;
#else
    return true;
#endif
}

inline Core* current_core() {
    Core* core;
    asm volatile("mrs %0, " NOPSCOPE_TPIDR_NAME : "=r"(core));
    return core;
}

// Whether this is EL1. At EL0 the MRS is undefined. If a handler skips it, `level` stays 0.
inline bool at_required_level() {
    std::uint64_t level = 0;
    asm volatile("mrs %0, currentel" : "+r"(level));
    return (static_cast<unsigned>(level >> 2) & 3) == 1;
}

// SCTLR_EL1.M and .C: exclusives and the records' memory need both.
inline bool mmu_and_cache_on() {
    constexpr std::uint64_t m_and_c = 1u << 0 | 1u << 2;
    std::uint64_t sctlr;
    asm volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
    return (sctlr & m_and_c) == m_and_c;
}

// How the CPU translates an address at EL1: PAR_EL1 after AT S1E1R or S1E1W (Arm ARM, D19.2).
struct Translation {
    std::uint64_t par;
    bool is_mapped() const { return (par & 1) == 0; }  // for that access
    std::uint64_t page() const { return par & 0x000f'ffff'ffff'f000; }
    // 10: outer shareable, which is inner shareable, too.
    bool is_shared() const { return (par >> 7 & 2) != 0; }
    // As in MAIR_EL1. Each half (outer, inner) is 01RW, with RW not 0, or 11RW. F0: tagged memory.
    bool is_write_back() const {
        const auto attributes = static_cast<unsigned>(par >> 56);
        return attributes == 0xf0 ||
               (is_write_back(attributes >> 4) && is_write_back(attributes & 15));
    }

private:
    static bool is_write_back(unsigned policy) { return (policy & 4) != 0 && policy != 4; }
};
enum class Access { read, write };
// Call at EL1 with interrupts masked, because a handler may translate, too.
inline Translation translate(std::uint64_t address, Access access) {
    Translation result;
    if (access == Access::write) {
        asm volatile("at s1e1w, %0" ::"r"(address));
    } else {
        asm volatile("at s1e1r, %0" ::"r"(address));
    }
    asm volatile("isb\n\tmrs %0, par_el1" : "=r"(result.par)::"memory");
    return result;
}

// Our recorders and Cpu::clock() read the same register.
#ifdef NOPSCOPE_CLOCK_PMCCNTR
inline constexpr bool clock_is_cycles = true;
#else
inline constexpr bool clock_is_cycles = false;
#endif

// CNTVCT, which the firmware's timers use, and the PMU's cycle counter (Arm ARM DDI 0487, D13).
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
// Counts every cycle (PMCR.D off) with 64 bits (LC), also where events must not be counted (DP
// off); at EL1 and EL0, not at EL2 (PMCCFILTR 0). The counter keeps its value.
inline void start_cycles() {
    constexpr std::uint64_t e = 1 << 0, d = 1 << 3, dp = 1 << 5, lc = 1 << 6;
    std::uint64_t control;
    asm volatile("mrs %0, pmcr_el0" : "=r"(control));
    asm volatile(
        "msr pmccfiltr_el0, xzr\n\tmsr pmcr_el0, %0\n\tmsr pmcntenset_el0, %1\n\tisb" ::"r"(
            (control & ~(d | dp)) | e | lc),
        "r"(std::uint64_t{1} << 31)
        : "memory");
}

inline void relax() { asm volatile("yield" ::: "memory"); }

// Returns `pointer`. The compiler forgets how it was made: else GCC computes a core's address from
// its number again at each use.
template <typename T>
T* kept_in_register(T* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

[[noreturn]] inline void breakpoint() {
    for (;;) asm volatile("brk #0x6e73");  // "ns"
}

#else

inline void relax() {}

#endif

}  // namespace arch
}  // namespace nopscope
