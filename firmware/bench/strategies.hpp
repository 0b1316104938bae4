// SPDX-License-Identifier: Apache-2.0
// Four ways from a function to the ops that trace it.
//
//   list      one common trampoline. Its callback walks all registered ops and asks each one's
//             filter, as if the site did not know its ops (list.cpp)
//   call_ops  the site's own set: nopscope::attach with callbacks
//   dynamic   a generated trampoline for each ops. A function with several ops uses the list, as on
//             the architectures that do this (dynamic.cpp); not on RISC-V
//   direct    a direct entry; a site has at most one
//
// All four change sites with the tracer's patcher. Ops are numbered from 0. An ops traces one
// function at a time.
#pragma once

#include "firmware/bench/measure.hpp"

#include <span>

namespace bench {

inline constexpr unsigned max_ops = 200;

struct Strategy {
    const char* name;
    // Null: ok. Else the reason of the failure; then nothing has changed.
    const char* (*add)(unsigned ops, BenchFunction function);
    void (*remove)(unsigned ops, BenchFunction function);
    unsigned most;  // ops on one function
};

extern const std::span<const Strategy> strategies;

void measure_recorders();
void measure_grid();
void measure_changes();
void measure_sites();

}  // namespace bench
