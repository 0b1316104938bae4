// SPDX-License-Identifier: Apache-2.0
// Makes outside text safe for a terminal, a table or JSON. Reads and writes numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// True if every byte is printable ASCII, a tab or a line end. A boot loader writes such text, and
// no frame looks like it (its second byte, the stream, is below 0x20).
bool is_console_text(std::span<const std::uint8_t> bytes);

// Control bytes other than newline and tab become \xNN, so a hostile target cannot control the
// terminal. A carriage return before a newline is dropped. Bytes above 0x7f pass if they form valid
// UTF-8. Invisible characters that change the line around them become \u{NNNN}: Unicode's direction
// controls, line separators, zero-width and other format characters.
std::string for_terminal(std::string_view bytes);

// The same for one cell of a table: newline and tab are escaped too.
std::string for_cell(std::string_view bytes);

// Valid UTF-8: broken sequences become U+FFFD.
std::string to_utf8(std::string_view bytes);

// Decimal, or hexadecimal after 0x. Nothing: `text` is no such number, or exceeds 64 bits.
std::optional<std::uint64_t> read_number(std::string_view text);
// Takes a decimal fraction without a sign, as "1.5", off the front of `text`. Nothing: it has none.
std::optional<double> take_decimal(std::string_view& text);

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(std::string_view bytes);
std::string hex_address(std::uint64_t address);

// 12.3 us, 4.56 s, ...: at most four significant digits.
std::string human_ns(std::uint64_t ns);
// "12.345678ms": no digit is lost, and --time takes it.
std::string exact_ns(std::uint64_t ns);
std::string human_ns(double ns);
// 1,234,567
std::string with_commas(std::uint64_t value);
// The first `most` names, for a cell: "a, b and 3 more".
std::string some_of(const std::vector<std::string>& names, std::size_t most);
// Appends a count that is not zero to a list: "3 gaps, 1,204 marks".
void add_count(std::string& list, std::uint64_t count, std::string_view what);

// ": did you mean a, b or c?", the end of a sentence about a word that is not in `names`. It has at
// most three names, safe for a terminal, the nearest first. Each differs from `word` by at most a
// third of its letters. Empty: no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace nopscope::host
