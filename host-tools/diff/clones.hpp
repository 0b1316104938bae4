// SPDX-License-Identifier: Apache-2.0
// Clones that a compiler makes of a function (f.part.0, f.constprop.1.isra.0, f.cold, f.lto_priv.2, f.llvm.123), which
// another build may make otherwise or not at all.
//
// A family is all functions of one file whose names are the same without those suffixes. If each side of a comparison has
// the same members they are compared one by one. Else the family is one function, under the name of the origin:
//
//     self    the members' sum
//     calls   the members' sum, but those of a piece (.part, .cold) by a member: it goes on with a call that was counted
//     total   of the paths on which no member is above; without paths the members' sum
//     paths   a piece that a member calls is part of that member's path
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/diff/diff.hpp"

namespace nopscope {

struct CloneName {
    std::string_view origin;  // of the same storage
    bool is_piece = false;    // of the origin's body, not another version of it
};
// Also "f(int) [clone .part.0]", as demanglers write it. A name without such a suffix is its own origin.
CloneName clone_name(std::string_view name);

// Makes one function of each family whose members differ between the sides. Returns the names that the runs have then.
Names fold_clones(const Names& names, std::vector<RunSums>& before, std::vector<RunSums>& after);

}  // namespace nopscope
