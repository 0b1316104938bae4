// SPDX-License-Identifier: Apache-2.0
// What the rest of the HAL needs to know of RISC-V in machine mode (contract: hal/arch.hpp).
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Behind the software interrupts: 16 and the cause of the machine timer's interrupt.
inline constexpr unsigned timer_interrupt = 16 + 7;

[[gnu::always_inline]] inline void device_barrier() {
    asm volatile("fence iorw, iorw" ::: "memory");
}
[[gnu::always_inline]] inline void memory_barrier() { asm volatile("fence rw, rw" ::: "memory"); }
// Also makes this hart's earlier stores to text visible to it.
[[gnu::always_inline]] inline void fetch_barrier() { asm volatile("fence.i" ::: "memory"); }
[[gnu::always_inline]] inline void mask_interrupts() {
    asm volatile("csrci mstatus, 8" ::: "memory");
}
[[gnu::always_inline]] inline void unmask_interrupts() {
    asm volatile("csrsi mstatus, 8" ::: "memory");
}

// The other harts leave reset with the boot hart, and boot.S parks them: none is started yet.
struct CoreStart {};

struct Fault {
    bool happened;
    std::uint64_t cause;  // mcause
    std::uint64_t pc;     // mepc
    std::uint64_t value;  // mtval
    std::uint64_t sp;     // at the fault
};

}  // namespace nopscope::hal
