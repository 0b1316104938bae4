// SPDX-License-Identifier: Apache-2.0
// Control and status registers: read_NAME, write_NAME, set_NAME and clear_NAME (of bits) for those
// that the HAL uses. "The RISC-V Instruction Set Manual, Volume II: Privileged Architecture".
#pragma once

#include <cstdint>

#include "hal/riscv64/frame.h"

namespace nopscope::hal {

#define NOPSCOPE_READ_CSR(NAME)                                  \
    [[gnu::always_inline]] inline std::uint64_t read_##NAME() {  \
        std::uint64_t value;                                     \
        asm volatile("csrr %0, " #NAME : "=r"(value)::"memory"); \
        return value;                                            \
    }
#define NOPSCOPE_CHANGE_CSR(VERB, INSTRUCTION, NAME)                        \
    [[gnu::always_inline]] inline void VERB##_##NAME(std::uint64_t value) { \
        asm volatile(INSTRUCTION " " #NAME ", %0" ::"r"(value) : "memory"); \
    }

NOPSCOPE_READ_CSR(cycle)
NOPSCOPE_READ_CSR(marchid)
NOPSCOPE_READ_CSR(mhartid)
NOPSCOPE_READ_CSR(mimpid)
NOPSCOPE_READ_CSR(mip)
NOPSCOPE_READ_CSR(misa)
NOPSCOPE_READ_CSR(mscratch)
NOPSCOPE_READ_CSR(mstatus)
NOPSCOPE_READ_CSR(mvendorid)
NOPSCOPE_READ_CSR(time)
NOPSCOPE_CHANGE_CSR(write, "csrw", mcountinhibit)
NOPSCOPE_CHANGE_CSR(write, "csrw", mie)
NOPSCOPE_CHANGE_CSR(set, "csrs", mie)
NOPSCOPE_CHANGE_CSR(clear, "csrc", mie)
NOPSCOPE_CHANGE_CSR(write, "csrw", pmpaddr0)
NOPSCOPE_CHANGE_CSR(write, "csrw", pmpaddr1)
NOPSCOPE_CHANGE_CSR(write, "csrw", pmpcfg0)

#undef NOPSCOPE_READ_CSR
#undef NOPSCOPE_CHANGE_CSR

// Bits of mip and mie.
inline constexpr std::uint64_t machine_software = 1 << 3;
inline constexpr std::uint64_t machine_timer = 1 << 7;
inline constexpr std::uint64_t machine_external = 1 << 11;

// This hart's block.
[[gnu::always_inline]] inline Hart& this_hart() {
    return *reinterpret_cast<Hart*>(read_mscratch());
}

}  // namespace nopscope::hal
