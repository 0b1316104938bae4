// SPDX-License-Identifier: Apache-2.0
// The CPU's part of every RISC-V Machine (contract: tracer/arch/cpu.hpp), in M-mode: inline
// assembly, without state. Its functions are always inlined into their callers, so none is ever
// instrumented.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/arch/machine.hpp"
#include "tracer/arch/riscv64/system.hpp"

#define NOPSCOPE_INLINE [[gnu::always_inline]] static inline

namespace nopscope {

struct Cpu {
    NOPSCOPE_INLINE std::uint32_t read_word(Address address) {
        return *reinterpret_cast<const volatile std::uint32_t*>(address);
    }
    NOPSCOPE_INLINE std::uint64_t read_slot(Address address) {
        return *reinterpret_cast<const volatile std::uint64_t*>(address);
    }

    // Data caches are coherent with all harts. FENCE.I is for the whole instruction cache.
    NOPSCOPE_INLINE void use_caches_of_this_core() { instruction_barrier(); }
    NOPSCOPE_INLINE std::size_t dcache_line_bytes() { return 0; }
    NOPSCOPE_INLINE std::size_t icache_line_bytes() { return 0; }
    NOPSCOPE_INLINE void clean_dcache_line(Address) {}
    NOPSCOPE_INLINE void invalidate_icache_line(Address) {}
    // A cache that a reset would lose needs Zicbom, which is not used.
    NOPSCOPE_INLINE std::size_t poc_line_bytes() { return 4096; }
    NOPSCOPE_INLINE void clean_to_poc(Address) {}
    NOPSCOPE_INLINE void data_barrier() { asm volatile("fence rw, rw" ::: "memory"); }
    NOPSCOPE_INLINE void instruction_barrier() { asm volatile("fence.i" ::: "memory"); }

    NOPSCOPE_INLINE std::uint64_t mask_interrupts() {
        std::uint64_t status;
        asm volatile("csrrci %0, mstatus, 8" : "=r"(status)::"memory");  // MIE
        return status;
    }
    NOPSCOPE_INLINE void restore_interrupts(std::uint64_t status) {
        asm volatile("csrs mstatus, %0" ::"r"(status & 8) : "memory");
    }

    NOPSCOPE_INLINE std::uint64_t clock() {
#ifdef NOPSCOPE_CLOCK_CYCLE
        return arch::read_cycles();
#else
        return arch::read_ticks();
#endif
    }
    NOPSCOPE_INLINE unsigned core() {
        std::uint64_t hart;
        // Volatile: the task may have moved to another hart since the last reading.
        asm volatile("csrr %0, mhartid" : "=r"(hart));
        return static_cast<unsigned>(hart);
    }
};

}  // namespace nopscope
