// SPDX-License-Identifier: Apache-2.0
// Self and total times in whole nanoseconds: one number for each call path, and every other time is
// a sum of these. So all formats that show sums agree with each other exactly.
//
//     self of a path      its calls' self time, less what recording took of it
//     total of a path     its self, its callees' totals, and what passed inside its calls and is
//                         nobody's self: gaps in the records, and time in which other contexts ran
//     self of a function  the sum of its paths' selves
//     total of a function the sum of the totals of its outermost paths (those that lie in no other
//                         path of it); time that a gap put below two of them counts once
//
// What recording took is a mean, and a clock has ticks: some paths come out below zero. Such a path is
// 0, and its caller has less for it: where a call is measured too short, its caller is measured too
// long by the same. What lies below zero and has no caller is in `below_zero_ns` alone.
//
// Rounding is done once. The paths' times are laid end to end in the order of the tree, and each
// boundary is rounded to a nanosecond. A path's self, and its total, is the distance of two
// boundaries: within a nanosecond of the exact time, and every sum of them adds up.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/profile/nanoseconds.hpp"
#include "host-tools/profile/profile.hpp"

namespace nopscope {

struct Times {
    std::uint64_t total_ns = 0;
    std::uint64_t self_ns = 0;
};

struct Sums {
    std::vector<Times> nodes;      // by node of the call tree
    std::vector<Times> functions;  // by function number
    std::uint64_t below_zero_ns = 0;
};

// `times`: profile.times(). `taken`: by node, what recording took of its self time, in 1/256 ticks;
// empty: times as recorded.
Sums sum_up(const Profile& profile, const std::vector<FunctionTimes>& times,
            const std::vector<SignedFixedTicks>& taken);

}  // namespace nopscope
