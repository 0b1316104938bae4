// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "host-tools/target/memory/target_memory.hpp"
#include "tests/unit/host/error_of.hpp"

namespace nopscope::host {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

template <typename T>
void set(Bytes& bytes, std::size_t at, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
        bytes[at + i] = static_cast<std::uint8_t>(std::uint64_t{value} >> 8 * i);
}

struct Load {
    std::uint64_t virtual_address, physical_address, file_bytes, bytes;
};
// Each byte of a segment is its number, from 1.
Bytes core_dump(const std::vector<Load>& loads) {
    Bytes file(64 + 56 * loads.size());
    const std::uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    std::copy(std::begin(ident), std::end(ident), file.begin());
    set(file, 16, std::uint16_t{4});
    set(file, 18, std::uint16_t{183});
    set(file, 32, std::uint64_t{64});
    set(file, 54, std::uint16_t{56});
    set(file, 56, static_cast<std::uint16_t>(loads.size()));
    for (std::size_t n = 0; n < loads.size(); ++n) {
        const std::size_t header = 64 + 56 * n;
        set(file, header, std::uint32_t{1});
        set(file, header + 8, std::uint64_t{file.size()});
        set(file, header + 16, loads[n].virtual_address);
        set(file, header + 24, loads[n].physical_address);
        set(file, header + 32, loads[n].file_bytes);
        set(file, header + 40, loads[n].bytes);
        file.insert(file.end(), loads[n].file_bytes, static_cast<std::uint8_t>(n + 1));
    }
    return file;
}

class MemoryFile : public ::testing::Test {
protected:
    ~MemoryFile() override { std::remove(path.c_str()); }
    void write(const Bytes& bytes) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    std::string read(std::uint64_t address, std::size_t count,
                     std::optional<std::uint64_t> base = {}) {
        got.assign(count, 0xee);
        return test::error_of([&] { open_memory_file(path, base)->read(address, got); }).what();
    }
    std::string path = ::testing::TempDir() + "memory_file_test";
    Bytes got;
};

TEST_F(MemoryFile, ACoreDump) {
    write(core_dump({{0, 0x1000, 16, 16}, {0, 0x1010, 8, 24}}));
    EXPECT_TRUE(is_core_dump(path));
    EXPECT_EQ(read(0x100c, 20), "");
    EXPECT_EQ(got, (Bytes{1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_THAT(read(0x1020, 9),
                HasSubstr("has no memory at 0x1028: it has 0x1000 to 0x1010, 0x1010 to 0x1028"));
    // Core dumps of gdb have virtual addresses.
    write(core_dump({{0x8000, 0, 4, 4}, {0, 0x1010, 8, 24}}));
    EXPECT_EQ(read(0x8000, 4), "");
    EXPECT_NE(read(0x1010, 4), "");
}
TEST_F(MemoryFile, AnImage) {
    write({1, 2, 3, 4});
    EXPECT_FALSE(is_core_dump(path));
    EXPECT_EQ(read(0x4001, 3, 0x4000), "");
    EXPECT_EQ(got, (Bytes{2, 3, 4}));
    EXPECT_THAT(read(0x4001, 4, 0x4000), HasSubstr("has no memory at 0x4004"));
    EXPECT_THAT(read(0x3fff, 1, 0x4000), HasSubstr("has no memory at 0x3fff"));
    EXPECT_THAT(read(0x4000, 1), HasSubstr("with --memory-base"));
    EXPECT_NE(read(0x3, 1, ~std::uint64_t{0}), "");
}
TEST_F(MemoryFile, CutOrSpoiled) {
    const Bytes whole = core_dump({{0, 0x1000, 16, 16}, {0, 0x2000, 64, 64}});
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        write(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
        EXPECT_NE(read(0x2000, 64), "") << cut;
    }
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        Bytes bytes = whole;
        for (unsigned i = 0; i < 1 + random() % 4; ++i)
            bytes[random() % 176] = static_cast<std::uint8_t>(random());
        write(bytes);
        (void)read(0x2000, 64);
    }
}

}  // namespace
}  // namespace nopscope::host
