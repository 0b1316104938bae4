// SPDX-License-Identifier: Apache-2.0
// Times less what recording took, by what the target measured at boot (hello's overheads).
//
// A call's own time has `inside` of its own recording in it, and `outside` of each call's that it made. The
// call tree knows how many calls each path made, so sums are corrected after decoding:
//
//     self of a path   less  its calls x inside, and its children's calls x outside
//
// sums.hpp makes all other sums from these: totals of paths, times of functions.
//
// A tail call has taken the recorder longer, which is its caller's (path_costs.hpp). Where the code does not say of a
// call whether it is one, the ends of it and of its caller do: `handed` of a path are those.
//
// A function without a landing pad has its own time that much shorter: `inside` is larger by what a pad
// takes, `outside` smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host-tools/image/arch/arm64/tail_calls.hpp"
#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/profile/sums.hpp"

namespace nopscope::host {

// What the image's code says of functions, by their numbers.
struct CodeFacts {
    std::vector<bool> local;  // those without a landing pad
    // Whether calls of `callee` by `caller` are tail calls; none: not known.
    std::function<Tail(std::uint32_t caller, std::uint32_t callee)> tail;
};

// `times`: profile.times(). Overheads are those of the first session that has measured them.
Sums correct(const Profile& profile, const std::vector<FunctionTimes>& times, const CodeFacts& code);

// What the target's profile gives: less each call's own `inside`. How many calls a function made it does
// not know, so theirs stays in.
struct CorrectedProfile {
    Times times;
    std::uint64_t below_zero_ns = 0;  // by how much its self would be below zero
    std::int64_t each = 0;            // taken off each call, in 1/256 ticks
};
CorrectedProfile correct(const ProfiledTimes& times, const HelloInfo& hello, bool local);

}  // namespace nopscope::host
