// SPDX-License-Identifier: Apache-2.0
// Times less what recording took, by what the target measured at boot (hello's overheads).
//
// A call's own time has `inside` of its own recording in it, and `outside` of each call's that it made. The
// call tree knows how many calls each path made, so nothing is counted while decoding:
//
//     self of a path   less  its calls x inside, and its children's calls x outside
//     total of a path  less  the same of it and of all paths below it, but its own calls' outside
//     a function       less  the sum of its paths'; for its total, of those that lie in no other of its own
//
// A tail call has taken the recorder longer, which is its caller's (path_costs.hpp). Where the code does not say of a
// call whether it is one, the ends of it and of its caller do: `handed` of a path are those.
//
// A function without a landing pad has its own time that much shorter: `inside` is larger by what a pad
// takes, `outside` smaller.
//
// In 1/256 ticks, exact; what would come out below zero is zero.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host-tools/elf/tail_calls.hpp"
#include "host-tools/profile/profile.hpp"

namespace nopscope {

__extension__ using FixedTicks = unsigned __int128;  // 1/256 ticks

struct CorrectedTimes {
    FixedTicks total = 0;
    FixedTicks self = 0;
};

struct Correction {
    std::vector<CorrectedTimes> nodes;      // by node of the tree
    std::vector<CorrectedTimes> functions;  // by function number
    FixedTicks subtracted = 0;              // from all functions' self times together
};

// What the image's code says of functions, by their numbers.
struct CodeFacts {
    std::vector<bool> local;  // those without a landing pad
    // Whether calls of `callee` by `caller` are tail calls; none: not known.
    std::function<Tail(std::uint32_t caller, std::uint32_t callee)> tail;
};

// `times`: profile.times(). Overheads are those of the first session that has measured them.
Correction correct(const Profile& profile, const std::vector<FunctionTimes>& times, const CodeFacts& code);

// What the target's profile gives: less each call's own `inside`. How many calls a function made it does
// not know, so theirs stays in.
CorrectedTimes correct(const ProfiledTimes& times, const HelloInfo& hello, bool local);

}  // namespace nopscope
