// SPDX-License-Identifier: Apache-2.0
// A recording's block of records. The test reads back every kind of record, of clock and of gap.
// The reader refuses an invalid block, and takes no longer for it than for a valid one.
#include "host-tools/recording/block.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::nsc::block_test {

using protocol::Kind;
using protocol::StampedRecord;

struct Case {
    BlockHeader header;
    std::vector<StampedRecord> records;
};

// A random program of `functions` functions, with steps of up to `most_ticks`.
Case random_case(std::mt19937& random, std::size_t count, unsigned functions, unsigned most_ticks) {
    Case made;
    made.header = {3, 200, 1ull << 40, 9, 70, random(), {}};
    std::vector<std::uint64_t> open;
    std::uint64_t index = made.header.first_index;
    std::uint64_t clock = made.header.base;
    const auto add = [&](Kind kind, std::uint32_t payload) {
        made.records.push_back(test::stamped(kind, payload, clock));
        ++index;
    };
    while (made.records.size() < count) {
        if (random() % 500 == 0 && !made.records.empty() &&
            (made.header.gaps.empty() || made.header.gaps.back().at != made.records.size())) {
            clock += random();
            const std::uint64_t missing = random() + 1ull;
            made.header.gaps.push_back(
                {made.records.size(), missing, static_cast<std::uint32_t>(random()), clock});
            index += missing;
        }
        clock += random() % (most_ticks + 1);
        if (random() % 50 == 0) clock -= random() % 60;  // the counter was read early
        if (random() % 90 == 0) clock += 1ull << (random() % 60);
        const unsigned what = random() % 100;
        if (what < 48 || open.empty()) {
            open.push_back(index);
            add(Kind::entry, random() % functions);
        } else if (what < 94) {
            const std::size_t above = random() % 20 == 0 ? random() % open.size() : 0;
            open.resize(open.size() - above);
            add(Kind::ret, static_cast<std::uint32_t>(open.back() & protocol::entry_index_mask)
                                   << 1 |
                               (random() % 30 == 0 ? 1u : 0u));
            open.pop_back();
        } else if (what < 96) {
            add(Kind::call, random() & 0x1fffffff);
        } else if (what < 98) {
            add(Kind::ret, random() & 0x1fffffff);  // its entry is before the block, or missing
        } else {
            const auto data = std::uint64_t{random()} << 25 | 77;
            test::add_with_data(made.records, protocol::Extended::duration, 5, clock, {data});
            index += 2;
        }
    }
    made.records.resize(count);
    return made;
}

Payload written(const Case& made) {
    Payload body;
    write_block(made.header, made.records, body);
    return body;
}

void expect_read(const Case& made) {
    const Payload body = written(made);
    BlockReader reader;
    ASSERT_TRUE(reader.open(body.bytes()));
    const auto fields = [](const BlockHeader& of) {
        return std::tuple(of.session, of.core, of.missing, of.context);
    };
    EXPECT_EQ(fields(reader.header()), fields(made.header));
    std::size_t at = 0, gaps = 0;
    std::uint64_t index = made.header.first_index;
    for (TraceBatch batch = reader.next(); !batch.records.empty(); batch = reader.next()) {
        if (batch.gap) {
            const BlockGap& gap = made.header.gaps.at(gaps++);
            ASSERT_EQ(std::tuple(gap.at, gap.context, gap.base),
                      std::tuple(at, batch.context, batch.base));
            index += gap.missing;
        }
        ASSERT_EQ(batch.first_index, index);
        for (const StampedRecord& each : batch.records) {
            ASSERT_LT(at, made.records.size());
            ASSERT_EQ(each.record.word, made.records[at].record.word) << at;
            ASSERT_EQ(each.clock, made.records[at].clock) << at;
            ++at;
        }
        index += batch.records.size();
    }
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(at, made.records.size());
    EXPECT_EQ(gaps, made.header.gaps.size());
    EXPECT_EQ(reader.next_index(), index);
}

TEST(Block, RoundTrip) {
    std::mt19937 random(1);
    for (const unsigned functions : {3u, 200u, 253u, 254u, 255u, 2000u, 1u << 29}) {
        for (const unsigned ticks : {0u, 3u, 500u, 100'000u, 1u << 30}) {
            for (const std::size_t count : {1, 5000})
                expect_read(random_case(random, count, functions, ticks));
        }
    }
    const Case largest = random_case(random, max_block_records, 1u << 29, 1u << 30);
    expect_read(largest);
    EXPECT_LT(written(largest).bytes().size(), std::size_t{1} << 23);
}

TEST(Block, AProgramsRecordsTakeTwoBytes) {
    Case made;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        made.records.push_back(test::stamped(Kind::entry, i % 7, i * 20));
        made.records.push_back(test::stamped(Kind::ret, 4 * i, i * 20 + 9));
    }
    EXPECT_LT(written(made).bytes().size(), 2 * made.records.size() + 40);
}

TEST(Block, AnInvalidBlockIsRefused) {
    std::mt19937 random(2);
    const Payload body = written(random_case(random, 3000, 300, 500));
    const auto bytes = body.bytes();
    BlockReader reader;
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 20) {
        EXPECT_FALSE(reader.open(
            std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(size))));
    }
    // A return while no call is open, and a token that is not in the dictionary.
    for (const std::uint8_t token : {0, 3}) {
        const std::vector<std::uint8_t> none{1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 5, 0, token, 0};
        ASSERT_TRUE(reader.open(none));
        EXPECT_TRUE(reader.next().records.empty());
        EXPECT_FALSE(reader.ok());
    }
    // An unused bit of the record is set: in a dictionary entry, and in a rare record.
    const std::vector<std::uint8_t> odd{1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0x7c, 1, 0x7c, 2, 1, 0, 0};
    ASSERT_TRUE(reader.open(odd));
    const auto records = reader.next().records;
    ASSERT_EQ(records.size(), 2u);
    for (const auto& each : records) EXPECT_EQ(each.record.word, std::uint64_t{0x78} << 32);
    // The reader ends whatever the bytes are.
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::uint8_t> broken(bytes.begin(), bytes.end());
        for (int i = 0; i < 3; ++i)
            broken[random() % (i == 0 ? 60 : broken.size())] = static_cast<std::uint8_t>(random());
        if (!reader.open(broken)) continue;
        std::size_t count = 0;
        for (auto batch = reader.next(); !batch.records.empty(); batch = reader.next())
            count += batch.records.size();
        ASSERT_LE(count, max_block_records);
    }
}

}  // namespace nopscope::host::nsc::block_test
