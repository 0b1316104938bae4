// SPDX-License-Identifier: Apache-2.0
// Records with data in format 2, and records of all kinds for a decoder that shares no code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/host/codec_records.hpp"
#include "tests/unit/host/test_files.hpp"

namespace nopscope::host {
namespace {

using namespace test;

TEST(Codec, RoundTripsEachKindOfExtendedRecord) {
    using protocol::Extended;
    Records records;
    std::uint64_t clock = 1;
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 55,
          std::uint64_t{1} << 56, (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63}) {
        for (const std::uint32_t argument : {0u, 1u, protocol::argument_mask}) {
            const std::uint64_t low = value & protocol::data_mask;
            const std::uint64_t high = value >> protocol::data_bits;
            const std::uint64_t site = value >> (64 - protocol::payload_bits);
            add_with_data(records, Extended::duration, argument, clock += 9, {site, low});
            add_with_data(records, Extended::arguments, argument, clock += 9,
                          {site, low, high, low});
            add_with_data(records, Extended::result, argument, clock += 9, {site, low, high});
            add_with_data(records, Extended::counter, argument, clock += 9, {low, high});
            records.push_back(stamped(Extended::marker, argument, clock += 9));
            records.push_back(stamped(Extended::context, argument, clock += 9));
            records.push_back(stamped(Kind::entry, static_cast<std::uint32_t>(site), clock += 9));
            EXPECT_EQ(protocol::wide_value(low, high), value);
            EXPECT_EQ(protocol::is_wide(value), protocol::narrow_value(low) != value);
        }
    }
    EXPECT_FALSE(protocol::is_wide(~std::uint64_t{0}));
    EXPECT_FALSE(protocol::is_wide((std::uint64_t{1} << 56) - 1));
    EXPECT_TRUE(protocol::is_wide(std::uint64_t{1} << 56));
    expect_exact(records);
    expect_exact(records, 1);
    // A partly read ring may begin at any record.
    for (int i = 0; i < 12; ++i) {
        records.erase(records.begin());
        expect_exact(records);
    }
}

// Head, site and duration of a leaf, which is one of 20 functions.
TEST(Codec, ADurationCostsLittleMoreThanItsSiteAndItsLastBits) {
    std::mt19937 random(3);
    Records records;
    for (unsigned i = 0; i < 60000; i += 3) {
        const std::uint32_t site = 1000 + random() % 20;
        add_with_data(records, protocol::Extended::duration, 3, 50 * i,
                      {site, site + random() % 16});
    }
    std::size_t bytes = 0;
    for (const Payload& payload : encode(records)) bytes += payload.bytes.size();
    const double bits =
        8.0 * static_cast<double>(bytes) / (static_cast<double>(records.size()) / 3);
    EXPECT_LT(bits, 4.33 + 9 + 3);
    EXPECT_GT(bits, 4.3 + 4);  // the random part
}

// For tests/conformance/trace2.py, a decoder that was written from docs/trace-format.md. The
// console contains the results that the decoder must find.
TEST(Codec, Golden) {
    test::CallTrace program(6, 60, 2);
    Records records = program.records(9000);
    for (const StampedRecord& each : anything(41, 800)) records.push_back(each);
    LineEncoder encoder;
    encoder.feed(records);
    encoder.finish();
    Bytes line = encoder.line();

    Bytes packed(records.size() * 17);
    protocol::Writer out(packed.data());
    for (const auto& [record, clock] : records) {
        const bool is_data = record.is(protocol::Extended::data);
        out.fixed(static_cast<std::uint8_t>(record.kind()));
        out.fixed(is_data ? record.data() << 4 | 15 : std::uint64_t{record.payload()});
        out.fixed(clock);
    }
    protocol::FrameBuilder builder;
    const std::string told = fmt::format("{} records {:08x}", records.size(),
                                         protocol::crc32c(packed.data(), packed.size()));
    std::copy(told.begin(), told.end(), builder.payload());
    line.resize(line.size() + protocol::max_encoded_bytes);
    line.resize(line.size() - protocol::max_encoded_bytes +
                builder.encode({protocol::Stream::console, 0, 1, 0}, told.size(),
                               line.data() + line.size() - protocol::max_encoded_bytes));
    expect_golden("records.bin", std::string(line.begin(), line.end()));
}

}  // namespace
}  // namespace nopscope::host
