// SPDX-License-Identifier: Apache-2.0
// The assembler's words, to compare encoders with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace nopscope::testing {

// The words that the assembler `tool` makes; `prefix`: its name without "as".
inline std::vector<std::uint32_t> assemble(const std::string& prefix, const std::string& options,
                                           const std::string& source) {
    const auto folder = std::filesystem::temp_directory_path() / "nopscope_insn_test";
    std::filesystem::create_directories(folder);
    const std::string text = folder / "text.s", object = folder / "text.o",
                      raw = folder / "text.bin";
    std::ofstream(text) << source;
    const std::string command = prefix + "as " + options + " -o " + object + " " + text + " && " +
                                prefix + "objcopy -O binary -j .text " + object + " " + raw;
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(raw, std::ios::binary);
    std::vector<std::uint32_t> words(std::filesystem::file_size(raw) / 4);
    in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    std::filesystem::remove_all(folder);
    return words;
}

}  // namespace nopscope::testing
