// SPDX-License-Identifier: Apache-2.0
// bench.elf: prints what each part of the tracer costs, a line of JSON (after "@bench ") and one
// for people each; the argument `quiet` leaves the latter out. docs/bench.md says what the rows
// are. Not instrumented itself but for functions.cpp.
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
