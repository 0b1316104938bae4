// SPDX-License-Identifier: Apache-2.0
// The few registers that the tracer itself needs (contract: tracer/arch/system.hpp). It runs in
// M-mode, which has no address translation.
#pragma once

#include "tracer/protocol/hello.hpp"

#include <cstdint>

namespace nopscope {

struct Core;

namespace arch {

#if defined(__riscv) && !defined(NOPSCOPE_SIMULATED)

inline constexpr protocol::Architecture architecture = protocol::Architecture::riscv64;

inline void set_current_core(Core* core) { asm volatile("mv tp, %0" ::"r"(core)); }
inline bool current_core_can_be_at(std::uint64_t) { return true; }
inline Core* current_core() {
    Core* core;
    asm volatile("mv %0, tp" : "=r"(core));
    return core;
}

// No register tells the mode. In another one than M-mode init() faults at its first CSR.
inline bool at_required_level() { return true; }
inline bool mmu_and_cache_on() { return true; }

// Addresses are physical, and no register tells what is there.
struct Translation {
    std::uint64_t address;
    bool is_mapped() const { return true; }
    std::uint64_t page() const { return address & ~std::uint64_t{0xfff}; }
    bool is_shared() const { return true; }
    bool is_write_back() const { return true; }
};
enum class Access { read, write };
inline Translation translate(std::uint64_t address, Access) { return {address}; }

#ifdef NOPSCOPE_CLOCK_CYCLE
inline constexpr bool clock_is_cycles = true;
#else
inline constexpr bool clock_is_cycles = false;
#endif

inline std::uint64_t read_ticks() {
    std::uint64_t ticks;
#ifdef NOPSCOPE_CLOCK_MTIME
    ticks = *reinterpret_cast<const volatile std::uint64_t*>(NOPSCOPE_CLOCK_MTIME);
#else
    asm volatile("rdtime %0" : "=r"(ticks)::"memory");
#endif
    return ticks;
}
inline std::uint64_t read_cycles() {
    std::uint64_t cycles;
    asm volatile("rdcycle %0" : "=r"(cycles)::"memory");
    return cycles;
}
inline void write_cycles(std::uint64_t cycles) {
    asm volatile("csrw mcycle, %0" ::"r"(cycles) : "memory");
}
inline bool has_cycle_counter() { return true; }
inline void start_cycles() { asm volatile("csrci 0x320, 1" ::: "memory"); }  // mcountinhibit.CY

inline void relax() { asm volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory"); }  // PAUSE

// Returns `pointer`. The compiler forgets how it was made: else GCC computes a core's address from
// its number again at each use.
template <typename T>
T* kept_in_register(T* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

[[noreturn]] inline void breakpoint() {
    for (;;) asm volatile("ebreak");
}

#else

inline void relax() {}

#endif

}  // namespace arch
}  // namespace nopscope
