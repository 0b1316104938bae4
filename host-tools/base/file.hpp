// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope {

// Throws Error when it cannot be read. For images: a recording is read in pieces.
std::vector<std::uint8_t> read_whole_file(const std::string& path);

// The sentence's end for a failed system call: "No such file or directory".
std::string system_error(int number);

}  // namespace nopscope
