// SPDX-License-Identifier: Apache-2.0
// The end of boot, on all architectures.
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/interrupts.hpp"
#include "hal/newlib/run_main.hpp"
#include "hal/parts.hpp"
#include "hal/semihosting.hpp"

using namespace nopscope::hal;

void nopscope_boot_late() {
    probe_semihosting();
    find_cores();
    interrupts_start();
    finish_core_setup();
    enable_interrupts();
    nopscope_run_main();
}
