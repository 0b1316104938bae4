// SPDX-License-Identifier: Apache-2.0
// One core: boot.S parks the other harts. There is no boot firmware below machine mode.
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/riscv64/registers.hpp"

namespace nopscope::hal {

unsigned count_cores() { return 1; }
bool power_on(unsigned) { return false; }

void power_off_this_core() {
    for (;;) wait_for_interrupt();
}

void finish_core_setup() { write_mcountinhibit(0); }

void firmware_power_off() {}
void firmware_reset() {}

}  // namespace nopscope::hal
