// SPDX-License-Identifier: Apache-2.0
// The wire format's writer and reader against each other and against published values.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::protocol_test {

Bytes encode(const Bytes& raw) {
    Bytes out(protocol::cobs_max_encoded(raw.size()));
    out.resize(protocol::cobs_encode(raw.data(), raw.size(), out.data()));
    return out;
}

TEST(Crc32c, PublishedValues) {
    const std::string digits = "123456789";
    EXPECT_EQ(protocol::crc32c(reinterpret_cast<const std::uint8_t*>(digits.data()), 9),
              0xe3069283u);
    const Bytes zeros(32, 0);  // RFC 3720, B.4
    EXPECT_EQ(protocol::crc32c(zeros.data(), zeros.size()), 0x8a9136aau);
    EXPECT_EQ(protocol::crc32c(zeros.data() + 5, 27, protocol::crc32c(zeros.data(), 5)),
              0x8a9136aau);
}

TEST(Cobs, PublishedExamples) {
    EXPECT_EQ(encode({}), (Bytes{1}));
    EXPECT_EQ(encode({0}), (Bytes{1, 1}));
    EXPECT_EQ(encode({0, 0}), (Bytes{1, 1, 1}));
    EXPECT_EQ(encode({0x11, 0x22, 0x00, 0x33}), (Bytes{3, 0x11, 0x22, 2, 0x33}));
}

TEST(Cobs, RoundTripsAtEveryLengthNearItsBlock) {
    std::mt19937 random(1);
    for (std::size_t length = 0; length < 800; ++length) {
        for (const int zero_every : {0, 2, 254, 255}) {
            Bytes raw(length);
            for (std::size_t i = 0; i < length; ++i) {
                raw[i] = zero_every != 0 && random() % static_cast<unsigned>(zero_every) == 0
                             ? 0
                             : static_cast<std::uint8_t>(1 + random() % 255);
            }
            Bytes line = encode(raw);
            ASSERT_EQ(std::count(line.begin(), line.end(), 0), 0);
            ASSERT_LE(line.size(), protocol::cobs_max_encoded(length));
            const auto result = protocol::cobs_decode(line.data(), line.size(), line.data());
            ASSERT_TRUE(result.ok);
            line.resize(result.count);
            ASSERT_EQ(line, raw);
        }
    }
}

TEST(Cobs, RefusesWhatCannotBe) {
    for (Bytes bad : {Bytes{}, Bytes{0}, Bytes{2}, Bytes{5, 1, 2}, Bytes{3, 1, 0}}) {
        EXPECT_FALSE(protocol::cobs_decode(bad.data(), bad.size(), bad.data()).ok);
    }
}

TEST(Varint, RoundTripsAndRefusesMoreThan64Bits) {
    protocol::Byte bytes[protocol::max_varint_bytes + 1];
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t near : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}}) {
            const std::uint64_t value = (std::uint64_t{1} << bit) + near;
            protocol::Writer out(bytes);
            out.varint(value);
            ASSERT_LE(out.size(), protocol::max_varint_bytes);
            protocol::Reader in(bytes, out.size());
            EXPECT_EQ(in.varint(), value);
            EXPECT_TRUE(in.ok());
            protocol::Reader cut(bytes, out.size() - 1);
            cut.varint();
            EXPECT_FALSE(cut.ok());
        }
    }
    const Bytes too_long{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    protocol::Reader in(too_long.data(), too_long.size());
    in.varint();
    EXPECT_FALSE(in.ok());
}

TEST(Zigzag, IsSmallForSmallMagnitudes) {
    for (const auto& [value, code] : {std::pair(0, 0u), {-1, 1u}, {1, 2u}})
        EXPECT_EQ(protocol::zigzag(value), code);
    for (const std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{-77}, std::int64_t{0}})
        EXPECT_EQ(protocol::unzigzag(protocol::zigzag(value)), value);
}

TEST(Frame, RoundTripsAndDetectsEveryFlippedBit) {
    protocol::FrameBuilder builder;
    for (unsigned i = 0; i < 40; ++i) builder.payload()[i] = static_cast<protocol::Byte>(i % 7);
    protocol::Byte line[protocol::max_encoded_bytes];
    const std::size_t count = builder.encode({Stream::trace, 3, 0xbeef, 0x12345678}, 40, line);
    ASSERT_EQ(line[count - 1], 0);
    Bytes copy(line, line + count - 1);
    const auto frame = protocol::parse_frame(copy.data(), copy.size());
    ASSERT_TRUE(frame.ok);
    const protocol::FrameHeader& header = frame.header;
    EXPECT_EQ(std::tuple(header.stream, header.core, header.session, header.sequence),
              std::tuple(Stream::trace, 3, 0xbeef, 0x12345678u));
    EXPECT_EQ(Bytes(frame.payload, frame.payload + frame.payload_bytes),
              Bytes(builder.payload(), builder.payload() + 40));
    for (std::size_t bit = 0; bit < 8 * (count - 1); ++bit) {
        Bytes flipped(line, line + count - 1);
        flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        EXPECT_FALSE(protocol::parse_frame(flipped.data(), flipped.size()).ok) << "bit " << bit;
    }
}

TEST(Stats, RoundTripUpToEachFieldThatTheLastOneMayBe) {
    protocol::Byte payload[protocol::max_payload_bytes];
    protocol::Stats stats{.generated = 1u << 20, .dropped = 77, .final = 1, .commands_refused = 9};
    const std::size_t without = protocol::write_stats(stats, payload);
    stats.has_state = true;
    std::uint64_t value = ~std::uint64_t{0};
    for (const auto field : protocol::state_fields)
        stats.*field = std::exchange(value, value / 300);
    stats.stray_returns = 7;
    stats.undeferred = 8;
    const std::size_t with = protocol::write_stats(stats, payload);
    EXPECT_LE(with, protocol::max_stats_bytes);
    payload[with] = 5;  // a field of a later version
    // Not all targets send the refused commands, the state, the stray returns and what follows.
    const std::set<std::size_t> ends{without - 1, without, with - 2, with - 1, with, with + 1};
    for (std::size_t cut = 0; cut <= with + 1; ++cut) {
        SCOPED_TRACE(cut);
        protocol::Stats back;
        ASSERT_EQ(protocol::read_stats(payload, cut, back), ends.contains(cut));
        if (!ends.contains(cut)) continue;
        EXPECT_EQ(std::tuple(back.generated, back.dropped, back.final, back.commands_refused),
                  std::tuple(1u << 20, 77u, 1u, cut >= without ? 9u : 0u));
        EXPECT_EQ(back.has_state, cut > without);
        for (const auto field : protocol::state_fields)
            EXPECT_EQ(back.*field, cut > without ? stats.*field : 0);
        EXPECT_EQ(back.stray_returns, cut > with - 2 ? 7u : 0u);
        EXPECT_EQ(back.undeferred, cut > with - 1 ? 8u : 0u);
    }
}

}  // namespace nopscope::host::test::protocol_test
