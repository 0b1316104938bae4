// SPDX-License-Identifier: Apache-2.0
// bench.elf: prints the cost of each part of the tracer (docs/bench.md explains the rows). Each row
// is a line of JSON after "@bench " and a line for people; the argument `quiet` omits the second.
// Only functions.cpp is instrumented.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"
#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

#include <stdio.h>

int main() {
    bench::initialise();
    bench::find_functions();
    bench::measure_recorders();
    bench::measure_grid();
    bench::measure_changes();
    bench::measure_sites();
    printf("bench: done\n");
    fflush(stdout);
    nopscope::finish();
    nopscope::hal::exit(0);
}
