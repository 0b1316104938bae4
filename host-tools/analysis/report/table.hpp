// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Numbers, then two texts: mostly a function, and the place of its definition.
using Line = std::vector<std::string>;

// Aligns numbers to the right. The first line has the heads. A long name moves no column.
std::string table(const std::vector<Line>& lines);

// Quotes the text. Puts an apostrophe before a text that a spreadsheet would take for a formula.
std::string csv_cell(std::string_view text);

// Appends a count that is not zero to a list: "3 gaps, 1,204 marks".
void add_count(std::string& list, std::uint64_t count, std::string_view what);

}  // namespace nopscope::host
