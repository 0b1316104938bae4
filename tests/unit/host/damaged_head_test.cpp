// SPDX-License-Identifier: Apache-2.0
// A wrong byte in a recording's head is repaired and counted. One behind it costs its chunk.
#include "host-tools/recording/repair.hpp"
#include "tests/unit/host/test.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace nopscope::host::test::damaged_head_test {

struct Read {
    nsc::Reader reader;
    Told told;
};
Read read(const Bytes& bytes) {
    Read result;
    std::size_t at = 0;
    or_throw(result.reader.read(
        [&](std::span<std::uint8_t> to) {
            const std::size_t count = std::min(to.size(), bytes.size() - at);
            std::copy_n(bytes.begin() + static_cast<long>(at), count, to.begin());
            at += count;
            return count;
        },
        result.told));
    return result;
}

// A recording whose records are in the last TRCE chunk.
Bytes recording() {
    const std::string path = testing::TempDir() + "head.nsc";
    TargetStream target;
    target.hello();
    for (int i = 0; i < 50; ++i) target.call(static_cast<std::uint32_t>(i % 3), 4);
    target.finish();
    Symbols symbols;
    symbols.origin = "demo.elf";
    symbols.sites = {{0x40080010, 32, "main", "/src/main.c", 12},
                     {0x40080120, 0, "lua::call(int)", "", 0}};
    {
        nsc::Writer writer(path, {.source = "exec:x", .tool = "t", .started_unix_ns = 99});
        writer.symbols(symbols);
        nsc::Journal journal(writer);
        SessionReader reader(journal);
        reader.feed(target.bytes);
        reader.finish();
        journal.flush(reader.line(), reader.counters(), 8);
        writer.end({});
    }
    const Bytes bytes = read_whole_file(path);
    fs::remove(path);
    return bytes;
}

class DamagedHead : public testing::Test {
protected:
    const Bytes whole = recording();
    const std::size_t trace_at = std::string(whole.begin(), whole.end()).find("TRCE");
    const Read good = read(whole);
};

TEST_F(DamagedHead, EachWrongByteOfItIsPutRight) {
    ASSERT_EQ(good.told.count, 50u);
    ASSERT_LT(trace_at, whole.size());
    for (std::size_t at = 0; at < trace_at + 16; ++at) {
        for (const unsigned change : {0x01u, 0x80u, 0xffu}) {
            Bytes bytes = whole;
            bytes[at] ^= static_cast<std::uint8_t>(change);
            const Read now = read(bytes);
            const nsc::Counters counters = now.reader.counters();
            ASSERT_FALSE(counters.file.is_raw) << at;
            ASSERT_EQ(now.told.records, good.told.records) << at;
            ASSERT_EQ(counters.stream, good.reader.counters().stream) << at;
            ASSERT_TRUE(now.reader.symbols()) << at;
            ASSERT_EQ(now.reader.symbols()->sites.at(1).name, "lua::call(int)") << at;
            ASSERT_TRUE(now.reader.about() && now.reader.about()->source == "exec:x") << at;
            ASSERT_EQ(counters.file.damaged_chunks, 1u) << at;
        }
    }
}

// A CRC cannot repair two bytes: the reader loses this chunk, but no other.
TEST_F(DamagedHead, TwoWrongBytesCostTheirChunk) {
    for (std::size_t at = 0; at < trace_at; ++at) {
        Bytes bytes = whole;
        bytes[at] ^= 0x11;
        bytes[at + 1] ^= 0x22;
        const Read now = read(bytes);
        const nsc::FileCounters& file = now.reader.counters().file;
        ASSERT_FALSE(file.is_raw) << at;
        ASSERT_GT(file.damaged_chunks + file.skipped_bytes, 0u) << at;
        ASSERT_TRUE(now.told.count == good.told.count || now.told.count == 0) << at;
        ASSERT_TRUE(now.reader.symbols() || now.told.count == good.told.count) << at;
        ASSERT_TRUE(now.reader.end()) << at;
    }
}

TEST_F(DamagedHead, ARecordingWithoutItsHeadIsRecognised) {
    for (const long cut : {1, 16, 20}) {
        const Read now = read(Bytes(whole.begin() + cut, whole.end()));
        EXPECT_FALSE(now.reader.counters().file.is_raw) << cut;
        EXPECT_EQ(now.told.count, 50u) << cut;
    }
}

TEST_F(DamagedHead, ARepairFindsTheOneByte) {
    std::mt19937 random(3);
    int wrong = 0;
    for (int round = 0; round < 2000; ++round) {
        Bytes good(1 + random() % 3000);
        for (std::uint8_t& byte : good) byte = static_cast<std::uint8_t>(random());
        const std::uint32_t crc = protocol::crc32c(good.data(), good.size());
        Bytes bytes = good;
        EXPECT_FALSE(nsc::repair_byte(bytes, crc));  // the bytes are correct
        bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        ASSERT_TRUE(nsc::repair_byte(bytes, crc));
        ASSERT_EQ(bytes, good);
        for (int i = 0; i < 3; ++i)
            bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        if (bytes != good && nsc::repair_byte(bytes, crc)) ++wrong;
    }
    EXPECT_LE(wrong, 40);  // three changes of one byte count as one; else 1 in 5,000
}

}  // namespace nopscope::host::test::damaged_head_test
