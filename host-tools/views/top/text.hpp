// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal. Widths are wcwidth(3)'s, so of the locale; what is not in it takes one column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nopscope::host::top {

std::size_t columns(std::string_view utf8);
// Its first columns, at most so many.
std::string first_columns(std::string_view utf8, std::size_t width);
// Exactly so many columns: cut, or filled with spaces.
std::string left(std::string_view utf8, std::size_t width);
std::string right(std::string_view utf8, std::size_t width);

// A function's name in at most so many columns. Of what does not fit first template arguments go, then
// namespaces from the left ("..method"), then its end ("luaV_exec..").
std::string short_name(std::string_view name, std::size_t width);

// 0, 7.5, 812, 48.2k, 1.23M: at most five characters below 10^15.
std::string short_count(double value);
// The same of what is counted: 7, not 7.0.
std::string short_count(std::uint64_t value);
// "12.3 %"
std::string percent(double share);

}  // namespace nopscope::host::top
