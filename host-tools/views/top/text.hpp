// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal. wcwidth(3) gives the widths, so they depend on the locale. A
// character that it does not know takes one column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nopscope::host::top {

std::size_t columns(std::string_view utf8);
// The first columns of the text, at most `width`.
std::string first_columns(std::string_view utf8, std::size_t width);
// Exactly `width` columns: cut, or filled with spaces.
std::string left(std::string_view utf8, std::size_t width);
std::string right(std::string_view utf8, std::size_t width);

// A function's name in at most `width` columns. It loses, until it fits, template arguments, then
// namespaces from the left ("..method"), then its end ("luaV_exec..").
std::string short_name(std::string_view name, std::size_t width);

// 0, 7.5, 812, 48.2k, 1.23M: at most five characters below 10^15.
std::string short_count(double value);
// The same for an integer: 7, not 7.0.
std::string short_count(std::uint64_t value);
// "12.3 %"
std::string percent(double share);

}  // namespace nopscope::host::top
