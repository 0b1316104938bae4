// SPDX-License-Identifier: Apache-2.0
// Tables for people, and cells of tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/figures/report/functions.hpp"

namespace nopscope::host {

// Numbers, then two texts: mostly a function, and the place of its definition.
using Line = std::vector<std::string>;

// Aligns numbers to the right. The first line has the heads. A long name moves no column.
std::string table(const std::vector<Line>& lines);

// Quotes the text. Puts an apostrophe before a text that a spreadsheet would take for a formula.
std::string csv_cell(std::string_view text);

// "src/lvm.c:1139": the last two components, enough to find it, short enough for a table.
std::string short_place(const FunctionPlace& row);
// A name in a tree, for a cell.
std::string indented(unsigned depth, const std::string& name);
std::string longest_text(const Longest& call);  // "10.5ms on core 0"

}  // namespace nopscope::host
