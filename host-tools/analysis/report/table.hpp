// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Numbers, then two texts: mostly a function, and where it is defined.
using Line = std::vector<std::string>;

// Numbers right-aligned, names last, so that long ones harm no column. The first line has the heads.
std::string table(const std::vector<Line>& lines);

// Quoted; what a spreadsheet would take for a formula gets an apostrophe before it.
std::string csv_cell(std::string_view text);

}  // namespace nopscope::host
