// SPDX-License-Identifier: Apache-2.0
// What the rest of the HAL needs to know of arm64 (contract: hal/arch.hpp).
#pragma once

#include <cstdint>

namespace nopscope::hal {

// The virtual timer's PPI on all boards; the BCM2836's driver numbers as a GIC does.
inline constexpr unsigned timer_interrupt = 27;

#ifdef __aarch64__  // else a driver's unit test on the host
[[gnu::always_inline]] inline void device_barrier() { asm volatile("dsb sy" ::: "memory"); }
[[gnu::always_inline]] inline void memory_barrier() { asm volatile("dsb ish" ::: "memory"); }
[[gnu::always_inline]] inline void fetch_barrier() { asm volatile("isb" ::: "memory"); }
[[gnu::always_inline]] inline void mask_interrupts() {
    asm volatile("msr daifset, #2" ::: "memory");
}
[[gnu::always_inline]] inline void unmask_interrupts() {
    asm volatile("msr daifclr, #2" ::: "memory");
}
#else
inline void device_barrier() {}
#endif

enum class Psci : std::uint8_t {
    none,
    // PSCI 1.0 or later, called by SMC: firmware runs at EL3.
    by_smc,
    // The same, but by HVC if the image was entered at EL1 below a hypervisor. An image entered at
    // EL2 is the hypervisor itself and uses SMC.
    from_above,
};

// How boards without PSCI start cores (Linux: "spin-table"). Each core waits in the boot firmware,
// MMU off, until its own 64-bit word is not 0, and then jumps to that address.
struct SpinTable {
    std::uint64_t first_word = 0;  // the boot core's; the other words follow, all in one page
    unsigned cores = 1;            // including the boot core
};

struct CoreStart {
    Psci psci = Psci::none;
    SpinTable spin_table = {};  // without PSCI
};

struct Fault {
    bool happened;
    std::uint64_t esr;
    std::uint64_t elr;
    std::uint64_t far;
    std::uint64_t sp;  // at the fault
    constexpr unsigned exception_class() const { return static_cast<unsigned>(esr >> 26 & 63); }
    constexpr unsigned fault_status() const { return static_cast<unsigned>(esr & 63); }
};

}  // namespace nopscope::hal
