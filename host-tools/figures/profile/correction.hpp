// SPDX-License-Identifier: Apache-2.0
// Subtracts the recording overhead from times. The target measured it at boot (hello's overheads).
//
// A call's self time contains `inside` once, and `outside` for each call that it made. The call
// tree knows how many calls each path made, so sums are corrected after decoding:
//
//     self of a path   less  its calls x inside, and its children's calls x outside
//
// sums.hpp makes all other sums from these: totals of paths, times of functions.
//
// The recorder takes longer for a tail call, in its caller's time (path_costs.hpp). If the code
// does not say whether a call is a tail call, the times between its end and its caller's end do:
// the path's `handed` counts those.
//
// For a function without a landing pad, `inside` is larger and `outside` smaller by a pad's time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/profile/sums.hpp"
#include "host-tools/image/tail_calls.hpp"

namespace nopscope::host {

// Facts from the image's code about functions, by function number.
struct CodeFacts {
    std::vector<bool> local;  // those without a landing pad
    // Whether calls of `callee` by `caller` are tail calls; empty: not known.
    std::function<Tail(std::uint32_t caller, std::uint32_t callee)> tail;
};

// Overheads are those of the first session that has measured them.
Sums correct(const Profile& profile, const TimesByGroup& times, const CodeFacts& code);

// Times of the target's profile, less `inside` of each call. The profile does not know how many
// calls a function made, so their `outside` is not subtracted.
struct CorrectedProfile {
    Times times;
    std::uint64_t below_zero_ns = 0;  // overhead beyond the self time, which is 0 then
    std::int64_t each = 0;            // subtracted from each call, in 1/256 ticks
};
CorrectedProfile correct(const ProfiledTimes& times, const HelloInfo& hello, bool local);

}  // namespace nopscope::host
