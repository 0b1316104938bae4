// SPDX-License-Identifier: Apache-2.0
// Compares the encoders with the assembler's output.
#include "tracer/arch/arm64/instructions.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace nopscope::instructions_test {

std::vector<std::uint32_t> assemble(const std::string& source) {
    const auto folder = std::filesystem::temp_directory_path() / "nopscope_insn_test";
    std::filesystem::create_directories(folder);
    const std::string text = folder / "text.s", object = folder / "text.o",
                      raw = folder / "text.bin";
    std::ofstream(text) << source;
    const std::string command = std::string(NOPSCOPE_AS) + " -march=armv8.5-a -o " + object + " " +
                                text + " && " + NOPSCOPE_OBJCOPY + " -O binary -j .text " + object +
                                " " + raw;
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(raw, std::ios::binary);
    std::vector<std::uint32_t> words(std::filesystem::file_size(raw) / 4);
    in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    std::filesystem::remove_all(folder);
    return words;
}

TEST(Encoders, AgreeWithTheAssembler) {
    const std::int64_t offsets[] = {0,     4,         -4,        64,        -64,        0x1000,
                                    -4096, 0x1234564, -0x123450, 0x7fffffc, -0x8000000, 0x4000000};
    std::string source = "nop\nbti c\nmov x9, x30\n";
    for (const std::int64_t offset : offsets) source += "bl . + (" + std::to_string(offset) + ")\n";
    const std::vector<std::uint32_t> words = assemble(source);
    ASSERT_EQ(words.size(), 3 + std::size(offsets));
    EXPECT_EQ(std::tuple(words[0], words[1], words[2]),
              std::tuple(arch::idle_word, arch::landing_pad, arch::save_link));
    constexpr std::uint64_t at = 0x4020'0000;
    for (std::size_t i = 0; i < std::size(offsets); ++i) {
        EXPECT_EQ(arch::call_at(at, at + static_cast<std::uint64_t>(offsets[i])), words[3 + i])
            << offsets[i];
    }
}

}  // namespace nopscope::instructions_test
