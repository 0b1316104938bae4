// SPDX-License-Identifier: Apache-2.0
// Functions of hal.hpp that are an instruction or two.
#include "hal/hal.hpp"
#include "hal/riscv64/registers.hpp"

namespace nopscope::hal {

bool interrupts_enabled() {
    constexpr std::uint64_t machine_interrupts = 1 << 3;
    return (read_mstatus() & machine_interrupts) != 0;
}
// The hint PAUSE: a FENCE without successors.
void yield() { asm volatile(".4byte 0x0100000f" ::: "memory"); }
void wait_for_interrupt() { asm volatile("fence iorw, iorw\n\twfi" ::: "memory"); }

unsigned this_core() { return static_cast<unsigned>(this_hart().core); }

}  // namespace nopscope::hal
