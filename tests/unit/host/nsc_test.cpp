// SPDX-License-Identifier: Apache-2.0
// Recordings: what is written is read back, from a whole file, a cut one and a damaged one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/nsc/reader.hpp"
#include "host-tools/nsc/writer.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope {
namespace {

using test::Bytes;

class Nsc : public testing::Test {
protected:
    Nsc() {
        for (std::size_t i = 0; i < line.size(); ++i)
            line[i] = static_cast<std::uint8_t>(i * i >> 3);
        symbols.origin = "demo.elf";
        symbols.build_id = std::string("\x00\x01\xff", 3);
        symbols.site_table_crc = 0xdeadbeef;
        symbols.sites = {{0x40080010, 32, "main", "/src/main.c", 12},
                         {0x40080120, 0, "lua::call(int)", "", 0},
                         {0xffffff8000000000, 4, "far", "f.S", 3}};
        symbols.sites[2].landing_pad = false;
    }
    ~Nsc() override { std::filesystem::remove(path); }

    Bytes write(bool with_end = true) {
        nsc::Writer writer(path, {.source = "exec:x", .tool = "t", .started_unix_ns = 99});
        writer.symbols(symbols);
        for (std::size_t at = 0; at < line.size(); at += 50'000) {
            const std::size_t count = std::min<std::size_t>(50'000, line.size() - at);
            writer.line(std::span(line).subspan(at, count), at);
        }
        if (with_end) {
            writer.end({.reason = nsc::EndReason::duration, .exit_status = 3});
        } else {
            writer.flush();
        }
        return read_whole_file(path);
    }
    // Reads `bytes` in odd pieces; returns the line.
    static Bytes read(const Bytes& bytes, nsc::Reader& reader) {
        Bytes out;
        std::size_t at = 0;
        reader.read(
            [&](std::span<std::uint8_t> to) {
                const std::size_t count =
                    std::min({to.size(), std::size_t{777}, bytes.size() - at});
                std::copy_n(bytes.begin() + static_cast<long>(at), count, to.begin());
                at += count;
                return count;
            },
            [&](auto part) { out.insert(out.end(), part.begin(), part.end()); });
        return out;
    }

    std::string path =
        std::filesystem::temp_directory_path() / ("nopscope-nsc-test-" + std::to_string(getpid()));
    Bytes line = Bytes(200'001);
    Symbols symbols;
};

TEST_F(Nsc, RoundTrip) {
    nsc::Reader reader;
    EXPECT_EQ(read(write(), reader), line);
    ASSERT_TRUE(reader.about());
    EXPECT_EQ(reader.about()->source, "exec:x");
    EXPECT_EQ(reader.about()->started_unix_ns, 99u);
    ASSERT_TRUE(reader.symbols());
    EXPECT_EQ(reader.symbols()->build_id, symbols.build_id);
    EXPECT_EQ(reader.symbols()->site_table_crc, 0xdeadbeefu);
    ASSERT_EQ(reader.symbols()->sites.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(reader.symbols()->sites[i].size, symbols.sites[i].size);
        EXPECT_EQ(reader.symbols()->sites[i].landing_pad, i != 2);
    }
    const Function* far = reader.symbols()->find(0xffffff8000000000);
    ASSERT_NE(far, nullptr);
    EXPECT_EQ(far->name, "far");
    EXPECT_EQ(far->line, 3u);
    EXPECT_EQ(reader.symbols()->find(0x40080011), nullptr);
    ASSERT_TRUE(reader.end());
    EXPECT_EQ(reader.end()->exit_status, 3);
    EXPECT_EQ(reader.end()->line_bytes, line.size());
    EXPECT_EQ(reader.counters().damaged_chunks + reader.counters().skipped_bytes +
                  reader.counters().cut_bytes,
              0u);
}

TEST_F(Nsc, AKilledRecordersFileIsWhole) {
    nsc::Reader reader;
    EXPECT_EQ(read(write(false), reader), line);
    EXPECT_FALSE(reader.counters().has_end);
    EXPECT_EQ(reader.counters().cut_bytes, 0u);
}

TEST_F(Nsc, CutAnywhereItIsValidUpToThere) {
    const Bytes whole = write();
    std::mt19937 random(3);
    for (int round = 0; round < 400; ++round) {
        const std::size_t cut = random() % (whole.size() - 16) + 16;
        const Bytes part(whole.begin(), whole.begin() + static_cast<long>(cut));
        nsc::Reader reader;
        const Bytes got = read(part, reader);
        ASSERT_LE(got.size(), line.size());
        ASSERT_TRUE(std::equal(got.begin(), got.end(), line.begin()));
        ASSERT_FALSE(reader.counters().has_end);
        // All but headers and symbols is there.
        ASSERT_GE(got.size() + 400, cut < 400 ? 0 : cut - 400);
    }
}

TEST_F(Nsc, OneFlippedByteCostsNoMoreThanItsChunk) {
    const Bytes whole = write();
    std::mt19937 random(4);
    int line_kept = 0;
    for (int round = 0; round < 400; ++round) {
        Bytes bytes = whole;
        const std::size_t at = 16 + random() % (bytes.size() - 16);
        bytes[at] ^= static_cast<std::uint8_t>(1u << (random() % 8));
        nsc::Reader reader;
        const Bytes got = read(bytes, reader);
        const auto& counters = reader.counters();
        ASSERT_GT(counters.damaged_chunks + counters.skipped_bytes, 0u) << at;
        line_kept += got.size() == line.size();
        ASSERT_GE(got.size() + 66'000 + 50'000, line.size());
    }
    EXPECT_GT(line_kept, 390);
}

TEST_F(Nsc, AnotherFormatIsRefusedInOneSentence) {
    Bytes bytes = write();
    wire::Writer header(bytes.data() + 8);
    header.fixed(std::uint16_t{2});
    header.fixed(std::uint16_t{0});
    header.fixed(wire::crc32c(bytes.data(), 12));
    nsc::Reader reader;
    try {
        read(bytes, reader);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the recording has format 2, and this nopscope reads 1");
    }
}

TEST_F(Nsc, ChunksOfLaterVersionsAreSkipped) {
    Bytes bytes = write(false);
    const std::size_t at = bytes.size();
    bytes.resize(at + 16 + 5, 1);
    wire::Writer header(bytes.data() + at);
    header.fixed(std::uint32_t{0x12345678});
    header.fixed(std::uint32_t{5});
    header.fixed(wire::crc32c(bytes.data() + at + 16, 5));
    header.fixed(wire::crc32c(bytes.data() + at, 12));
    nsc::Reader reader;
    EXPECT_EQ(read(bytes, reader), line);
    EXPECT_EQ(reader.counters().unknown_chunks, 1u);
    EXPECT_EQ(reader.counters().skipped_bytes, 0u);
}

TEST_F(Nsc, ARawCaptureIsReadAsItIs) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, line.size()}) {
        const Bytes part(line.begin(), line.begin() + static_cast<long>(size));
        nsc::Reader reader;
        EXPECT_EQ(read(part, reader), part);
        EXPECT_TRUE(reader.counters().is_raw);
    }
}

TEST_F(Nsc, AFileThatIsNotThereIsOneSentence) {
    nsc::Reader reader;
    EXPECT_THROW(reader.read_file("/nonexistent/x.nsc", [](auto) {}), Error);
    EXPECT_THROW(reader.read_file("/", [](auto) {}), Error);
}

}  // namespace
}  // namespace nopscope
