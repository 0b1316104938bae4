// SPDX-License-Identifier: Apache-2.0
// Makes two builds comparable although the compiler made different clones of a function (f.part.0,
// f.constprop.1.isra.0, f.cold, f.lto_priv.2, f.llvm.123) in each.
//
// A family is all functions of one file whose names are the same without these suffixes. If both
// sides of a comparison have the same members, they are compared one by one. Otherwise the family
// is one function, under the name of the origin:
//
//     self    the sum of the members' self times
//     calls   the sum of the members' calls, without a member's calls of a piece (.part, .cold),
//             which continue a call that was counted
//     total   the sum over the paths that have no member above; without paths, over the members
//     paths   a piece that a member calls is part of the member's path
#pragma once

#include <vector>

#include "host-tools/figures/diff/diff.hpp"

namespace nopscope::host {

// Joins each family whose members differ between the sides. Returns the runs' new names.
Names fold_clones(const Names& names, std::vector<RunSums>& before, std::vector<RunSums>& after);

}  // namespace nopscope::host
