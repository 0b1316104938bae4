// SPDX-License-Identifier: Apache-2.0
// Four ways to get from a function to those of n ops that trace it.
//
//   list      one common trampoline, whose callback walks all registered ops and asks each one's
//             filter: how it was before the site knew its ops (list.cpp)
//   call_ops  the site's own set: nopscope::attach with callbacks
//   dynamic   a trampoline generated for each ops; a function that several trace falls back to the
//             list, as on the architectures that do this (dynamic.cpp)
//   direct    a direct entry, which there can be one of
//
// All four use the tracer's patcher to change a site. Ops are numbered from 0; an ops traces one
// function at a time.
#pragma once

#include "firmware/bench/measure.hpp"

namespace bench {

inline constexpr unsigned max_ops = 200;

struct Strategy {
    const char* name;
    // Null: ok; else why not, in which case nothing has changed.
    const char* (*add)(unsigned ops, BenchFunction function);
    void (*remove)(unsigned ops, BenchFunction function);
    unsigned most;  // ops on one function
};

extern const Strategy strategies[4];

void measure_recorders();
void measure_grid();
void measure_changes();
void measure_sites();

}  // namespace bench
