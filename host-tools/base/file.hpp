// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope {

// Throws Error when it cannot be read. For images: a recording is read in pieces.
std::vector<std::uint8_t> read_whole_file(const std::string& path);

// Beside it first, under another name, and then in its place: whoever reads `path` finds the old file or all of
// the new one. Throws Error when it cannot be written.
void write_whole_file(const std::string& path, std::string_view bytes);

// The sentence's end for a failed system call: "No such file or directory".
std::string system_error(int number);

}  // namespace nopscope
