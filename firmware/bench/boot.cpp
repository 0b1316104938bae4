// SPDX-License-Identifier: Apache-2.0
// bench-boot.elf: boots like bench.elf, with fewer sites.
#include "firmware/bench/measure.hpp"
#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

#include <stdio.h>

int main() {
    bench::initialise();
    printf("bench: done\n");
    fflush(stdout);
    nopscope::finish();
    nopscope::hal::exit(0);
}
