// SPDX-License-Identifier: Apache-2.0
// Tables for people, cells of tables, and the tables of a report besides that of its functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/figures/report/report.hpp"

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

// Each ends with an empty line, or is empty.
std::string text_events(const Report& report);
std::string text_samples(const Report& report);
std::string text_captured(const Report& report);
std::string text_marks(const Report& report);

std::string head_of_samples(const Report& report);              // a line
std::string percent_of(std::uint64_t part, std::uint64_t all);  // "12.3 %"

}  // namespace nopscope::host
