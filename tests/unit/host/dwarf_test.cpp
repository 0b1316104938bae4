// SPDX-License-Identifier: Apache-2.0
// Source lines of an image that a real compiler made.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "host-tools/image/line_table.hpp"
#include "host-tools/image/source_lines.hpp"
#include "host-tools/image/symbols.hpp"

namespace nopscope::host {
namespace {

constexpr char source[] =
    "int twice(int x) {\n"
    "    return 2 * x;\n"
    "}\n"
    "\n"
    "void _start(void) {\n"
    "    twice(21);\n"
    "}\n";

std::string image(const std::string& options) {
    const std::string directory = testing::TempDir();
    std::ofstream(directory + "dwarf.c") << source;
    const std::string command =
        "cd " + directory + " && aarch64-linux-gnu-gcc " + options +
        " -O0 -nostdlib -static -ffreestanding -fpatchable-function-entry=4,2 -o dwarf.elf dwarf.c";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return directory + "dwarf.elf";
}

TEST(Dwarf, NamesTheLinesOfACompilersImage) {
    for (const char* const options : {"-g", "-g -gz", "-g -gdwarf-4"}) {
        const ElfFile elf = ElfFile::open(image(options));
        const SourceLines lines(elf);
        const LineTable table(elf);
        std::size_t found = 0;
        for (const Function& site : read_symbols(elf).sites) {
            const std::uint32_t line = site.name == "twice" ? 1 : 5;
            const SourcePlace place = lines.at(site.address);
            EXPECT_TRUE(place.file.ends_with("dwarf.c")) << place.file;
            EXPECT_EQ(place.line, line);
            const auto at = table.at(site.address + 8);  // the first row is behind the two NOPs
            ASSERT_TRUE(at) << site.name;
            EXPECT_EQ(at->line, line);
            EXPECT_TRUE(table.files()[at->file].ends_with("dwarf.c"));
            ++found;
        }
        EXPECT_EQ(found, 2u);
    }
}

TEST(Dwarf, AnImageWithoutItHasNoLines) {
    const ElfFile elf = ElfFile::open(image("-g0"));
    const Symbols symbols = read_symbols(elf);
    ASSERT_EQ(symbols.sites.size(), 2u);
    EXPECT_EQ(SourceLines(elf).at(symbols.sites[0].address).line, 0u);
    EXPECT_FALSE(LineTable(elf).at(symbols.sites[0].address));
}

}  // namespace
}  // namespace nopscope::host
