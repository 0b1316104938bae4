// SPDX-License-Identifier: Apache-2.0
// Functions of hal.hpp that are an instruction or two.
#include "hal/arm64/registers.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

bool interrupts_enabled() {
    constexpr std::uint64_t irq_masked = 1 << 7;
    return (read_daif() & irq_masked) == 0;
}
void yield() { asm volatile("yield"); }
void wait_for_interrupt() { asm volatile("dsb sy\n\twfi" ::: "memory"); }

}  // namespace nopscope::hal
