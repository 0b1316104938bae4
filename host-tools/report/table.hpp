// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nopscope {

// Numbers, then two texts: mostly a function, and where it is defined.
using Line = std::vector<std::string>;

// Numbers right-aligned, names last, so that long ones harm no column. The first line has the heads.
std::string table(const std::vector<Line>& lines);

}  // namespace nopscope
