// SPDX-License-Identifier: Apache-2.0
// Outside text made fit for a terminal, a table or JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nopscope::host {

// True when every byte is printable ASCII, a tab or a line end: what a boot loader writes, and what
// no frame looks like (its second byte, the stream, is below 0x20).
bool is_console_text(std::span<const std::uint8_t> bytes);

// Control bytes other than newline and tab become \xNN, so a hostile target cannot drive the
// terminal. A carriage return before a newline is dropped. Bytes above 0x7f pass when they form
// valid UTF-8. Characters that are not seen themselves but change the line around them become
// \u{NNNN}: Unicode's controls of direction, line separators, zero-width and other format characters.
std::string for_terminal(std::string_view bytes);

// The same for one cell of a table: newline and tab are escaped too.
std::string for_cell(std::string_view bytes);

// Valid UTF-8: broken sequences become U+FFFD.
std::string to_utf8(std::string_view bytes);

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string hex_address(std::uint64_t address);

// 12.3 us, 4.56 s, ...: four significant digits at most.
std::string human_ns(std::uint64_t ns);
std::string human_ns(double ns);
// 1,234,567
std::string with_commas(std::uint64_t value);

}  // namespace nopscope::host
