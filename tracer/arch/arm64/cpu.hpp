// SPDX-License-Identifier: Apache-2.0
// The CPU's part of every arm64 Machine (contract: tracer/arch/cpu.hpp): inline assembly, without
// state. Its functions are always inlined into their callers, so none is ever instrumented.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/arch/arm64/affinity.hpp"
#include "tracer/arch/machine.hpp"

#define NOPSCOPE_INLINE [[gnu::always_inline]] static inline

namespace nopscope {

// The fields of CTR_EL0 that cache maintenance needs, for code that runs on two different cores:
// the shorter line sizes, and IDC and DIC only if both cores have them.
constexpr std::uint64_t common_cache_type(std::uint64_t one, std::uint64_t other) {
    constexpr std::uint64_t imin_line = 0xf, dmin_line = 0xf << 16, idc_and_dic = 3 << 28;
    const auto smaller = [=](std::uint64_t field) {
        return (one & field) < (other & field) ? one & field : other & field;
    };
    return smaller(imin_line) | smaller(dmin_line) | (one & other & idc_and_dic);
}
static_assert(common_cache_type(0x8444'c004, 0x9444'8003) == 0x0004'0003);
static_assert(common_cache_type(0x3003'0004, 0x3004'0003) == 0x3003'0003);

// The common_cache_type() of all cores that called use_caches_of_this_core(). 0: none did yet, and
// each core uses its own CTR_EL0.
inline constinit std::uint64_t cache_type_of_cores = 0;

struct Cpu {
    NOPSCOPE_INLINE std::uint32_t read_word(Address address) {
        return *reinterpret_cast<const volatile std::uint32_t*>(address);
    }
    NOPSCOPE_INLINE std::uint64_t read_slot(Address address) {
        return *reinterpret_cast<const volatile std::uint64_t*>(address);
    }

    NOPSCOPE_INLINE void use_caches_of_this_core() {
        const std::uint64_t here = own_cache_type();
        std::uint64_t before = __atomic_load_n(&cache_type_of_cores, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&cache_type_of_cores, &before,
                                            before == 0 ? here : common_cache_type(before, here),
                                            false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
    }
    NOPSCOPE_INLINE std::size_t dcache_line_bytes() {
        const std::uint64_t ctr = cache_type();
        constexpr unsigned idc = 28;
        return (ctr >> idc & 1) != 0 ? 0 : std::size_t{4} << (ctr >> 16 & 15);
    }
    NOPSCOPE_INLINE std::size_t icache_line_bytes() {
        const std::uint64_t ctr = cache_type();
        constexpr unsigned dic = 29;
        return (ctr >> dic & 1) != 0 ? 0 : std::size_t{4} << (ctr & 15);
    }
    // Uses the executable address: an A53's instruction cache is virtually indexed. A clean to the
    // point of unification works through either alias.
    NOPSCOPE_INLINE void clean_dcache_line(Address address) {
        asm volatile("dc cvau, %0" ::"r"(address) : "memory");
    }
    NOPSCOPE_INLINE void invalidate_icache_line(Address address) {
        asm volatile("ic ivau, %0" ::"r"(address) : "memory");
    }
    NOPSCOPE_INLINE std::size_t poc_line_bytes() {
        return std::size_t{4} << (cache_type() >> 16 & 15);
    }
    NOPSCOPE_INLINE void clean_to_poc(Address address) {
        asm volatile("dc cvac, %0" ::"r"(address) : "memory");
    }
    NOPSCOPE_INLINE void data_barrier() { asm volatile("dsb ish" ::: "memory"); }
    NOPSCOPE_INLINE void instruction_barrier() { asm volatile("isb" ::: "memory"); }

    NOPSCOPE_INLINE std::uint64_t mask_interrupts() {
        std::uint64_t daif;
        asm volatile("mrs %0, daif\n\tmsr daifset, #3" : "=r"(daif)::"memory");
        return daif;
    }
    NOPSCOPE_INLINE void restore_interrupts(std::uint64_t daif) {
        asm volatile("msr daif, %0" ::"r"(daif) : "memory");
    }

    // The ISB stops the CPU from reading the counter before the preceding instructions.
    NOPSCOPE_INLINE std::uint64_t clock() {
        std::uint64_t ticks;
#ifdef NOPSCOPE_CLOCK_PMCCNTR
        asm volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(ticks)::"memory");
#else
        asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
#endif
        return ticks;
    }
    NOPSCOPE_INLINE unsigned core() {
        std::uint64_t mpidr;
        // Volatile: the task may have moved to another core since the last reading.
        asm volatile("mrs %0, mpidr_el1" : "=r"(mpidr));
        return static_cast<unsigned>(mpidr >> affinity_shift(mpidr) & 0xff);
    }

    // XPACLRI: a NOP on a CPU without pointer authentication.
    NOPSCOPE_INLINE std::uint64_t without_pac(std::uint64_t address) {
        register std::uint64_t x30 asm("x30") = address;
        asm("hint #7" : "+r"(x30));
        return x30;
    }

private:
    NOPSCOPE_INLINE std::uint64_t cache_type() {
        const std::uint64_t of_cores = __atomic_load_n(&cache_type_of_cores, __ATOMIC_RELAXED);
        return of_cores != 0 ? of_cores : own_cache_type();
    }
    NOPSCOPE_INLINE std::uint64_t own_cache_type() {
        std::uint64_t ctr;
        asm("mrs %0, ctr_el0" : "=r"(ctr));
        return ctr;
    }
};

}  // namespace nopscope
