// SPDX-License-Identifier: Apache-2.0
// Self and total times in whole nanoseconds. Each call path has one time, and every other time is a
// sum of these. So all formats that show sums agree with each other exactly.
//
// docs/accuracy.md, "What a time is", defines the times, and how times below zero and rounding are
// handled. In addition: a gap may put the same time below two outermost paths of a function. The
// function's total counts this time once.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/calls/nanoseconds.hpp"
#include "host-tools/figures/profile/profile.hpp"

namespace nopscope::host {

struct Times {
    std::uint64_t total_ns = 0;  // `cpu_ns` if Profile::is_on_cpu()
    std::uint64_t self_ns = 0;
    // On the CPU: the self times of the path and of those below it. The total also has the times in
    // which the calls' contexts did not run, and gaps.
    std::uint64_t cpu_ns = 0;
};

struct Sums {
    std::vector<Times> nodes;                   // by node of the call tree
    std::vector<std::vector<Times>> functions;  // by group and function number
    std::uint64_t below_zero_ns = 0;
};

// Profile::times() of each group.
using TimesByGroup = std::vector<std::vector<FunctionTimes>>;

// `taken`: the overhead in each node's self time, in 1/256 ticks; empty for times as recorded.
Sums sum_up(const Profile& profile, const TimesByGroup& times,
            const std::vector<SignedFixedTicks>& taken);

}  // namespace nopscope::host
