// SPDX-License-Identifier: Apache-2.0
// Format 2's encoder against its decoder. The result is exact for any records, small where a
// program repeats itself, and the cost of a lost frame is bounded. Records of all kinds are for a
// decoder that shares no code. The codec's benchmark: traces of any shape.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::codec_test {

TEST(RangeCoder, RoundTripsAtAllOdds) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const unsigned count = random() % 3000;
        const unsigned ones = random() % 257;  // of 256
        std::vector<bool> bits;
        std::vector<std::uint32_t> plain;
        Bytes line(count * 8 + 64, 0xee);
        protocol::RangeEncoder encoder;
        protocol::Probability odds[3];
        std::fill(std::begin(odds), std::end(odds), protocol::even_odds);
        encoder.start(line.data());
        for (unsigned i = 0; i < count; ++i) {
            bits.push_back(random() % 256 < ones);
            plain.push_back(random() & 0xffff);
            encoder.bit(odds[i % 3], bits[i]);
            if (i % 50 == 0) encoder.plain(plain[i], 1 + i % 16);
        }
        const auto size = static_cast<std::size_t>(encoder.finish() - line.data());
        protocol::RangeDecoder decoder;
        std::fill(std::begin(odds), std::end(odds), protocol::even_odds);
        decoder.start(line.data(), size);
        for (unsigned i = 0; i < count; ++i) {
            ASSERT_EQ(decoder.bit(odds[i % 3]), bits[i]) << seed << ' ' << i;
            if (i % 50 == 0) {
                ASSERT_EQ(decoder.plain(0, 1 + i % 16), plain[i] & ((2u << (i % 16)) - 1));
            }
        }
    }
}

Bytes line_of(const Records& records) {
    LineEncoder encoder;
    encoder.feed(records);
    encoder.finish();
    return encoder.line();
}

TEST(Codec, RoundTripsAnything) {
    for (unsigned seed = 0; seed < 30; ++seed)
        expect_exact(anything(seed, 2000), seed % 3 == 0 ? 7 : 1 << 20, seed * 0x0fffff00ull);
    expect_exact(anything(77, 60000));  // many frames are full
}

TEST(Codec, RoundTripsDeepRecursionAndUnwinding) {
    Records records;
    std::uint64_t clock = 5;
    std::vector<std::uint32_t> open;
    for (unsigned round = 0; round < 6; ++round) {
        for (unsigned i = 0; i < 3000; ++i) {
            open.push_back(static_cast<std::uint32_t>(records.size()));
            records.push_back(stamped(Kind::entry, 1000 + i % 3, clock += 11));
        }
        // Some calls end without a record, some by longjmp, one out of order.
        for (unsigned i = 0; i < 2500; ++i) {
            if (i % 700 == 5) open.resize(open.size() - 3);
            records.push_back(stamped(Kind::ret, open.back() << 1 | (i % 400 == 0), clock += 3));
            open.pop_back();
        }
        records.push_back(stamped(Kind::ret, open[1] << 1, clock += 3));
    }
    expect_exact(records);
}

TEST(Codec, RoundTripsASingleRecordOfEachExtreme) {
    for (const std::uint64_t clock : {0ull, 1ull, ~0ull, 1ull << 63}) {
        for (const std::uint32_t payload : {0u, 1u, (1u << protocol::payload_bits) - 1}) {
            for (const Kind kind : {Kind::call, Kind::entry, Kind::ret, Kind::extended}) {
                const StampedRecord record = stamped(kind, payload, clock);
                expect_exact({record, stamped(kind, payload, 0), record});
            }
        }
    }
}

TEST(Codec, IsSmallWhereAProgramRepeatsItself) {
    const Records records = CallTrace(5, 120, 0.3).records(400000);
    Bytes line = line_of(records);
    const double bytes = static_cast<double>(line.size()) / static_cast<double>(records.size());
    EXPECT_LT(bytes, 0.35);
    EXPECT_GT(bytes, 0.02);  // some branches and all of the noise are random
    LineDecoder decoder(line);
    Records decoded;
    for (auto next = decoder.next(1 << 16); !next.empty(); next = decoder.next(1 << 16))
        decoded.insert(decoded.end(), next.begin(), next.end());
    EXPECT_TRUE(decoder.ok());
    expect_same(decoded, records);
}

TEST(Codec, AFrameHasAtMostAsManyRecordsAsItsCountHolds) {
    Records records;
    for (std::uint64_t i = 0; i < 200000; ++i) records.push_back(stamped(Kind::call, 9, 4 * i));
    const auto payloads = encode(records);
    EXPECT_EQ(payloads[0].records, protocol::max_group_frame_records);
    expect_exact(records);
}

// The distance between key frames on the line, and the cost of a lost frame.
TEST(Codec, ALostFrameCostsTheRestOfItsGroupAndIsCounted) {
    const Records records = CallTrace(9, 300, 2).records(1200000);
    const auto payloads = encode(records);
    const auto is_key = [](const Payload& one) { return (one.bytes[0] & 1) != 0; };
    std::size_t group_bytes = 0;
    std::vector<std::size_t> keys;
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        if (is_key(payloads[i])) {
            keys.push_back(i);
            group_bytes = 0;
        }
        group_bytes +=
            payloads[i].bytes.size() + protocol::frame_header_bytes + protocol::frame_crc_bytes + 6;
        ASSERT_LE(group_bytes, protocol::max_group_bytes);
    }
    ASSERT_GE(keys.size(), 3u);
    auto decoder = std::make_unique<protocol::TraceDecoder>();
    for (const std::size_t lost :
         {std::size_t{0}, keys[1] - 1, keys[1], keys[1] + 4, payloads.size() - 1}) {
        decoder->lose();
        Records decoded, expected;
        bool gone = false;
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            const Payload& one = payloads[i];
            gone = i == lost || (gone && !is_key(one));
            if (i == lost) {
                decoder->lose();
            } else if (gone) {
                ASSERT_EQ(decoder->open(one.bytes.data(), one.bytes.size()), Opened::skipped);
                ASSERT_EQ(decoder->header().count, one.records);
            } else {
                ASSERT_TRUE(decode(*decoder, one, decoded)) << i;
                const auto first = records.begin() + static_cast<long>(one.first);
                expected.insert(expected.end(), first, first + static_cast<long>(one.records));
            }
        }
        expect_same(decoded, expected);
    }
}

TEST(Codec, AGroupPreparedInStepsHasTheBytesOfOnePreparedAtOnce) {
    const Records records = CallTrace(5, 120, 0.3).records(4000);
    const auto payload_of = [&](protocol::TraceEncoder& encoder, std::size_t pieces) {
        Bytes payload(protocol::max_payload_bytes);
        encoder.restart();
        encoder.begin(payload.data(), {.index = 0, .clock = records[0].clock});
        unsigned steps = 0;
        while (!encoder.prepare(pieces)) ++steps;
        EXPECT_EQ(steps, (protocol::TraceModel::pieces + pieces - 1) / pieces);
        std::size_t at = 0;
        fill(encoder, records, at);
        payload.resize(encoder.end());
        return payload;
    };
    auto encoder = std::make_unique<protocol::TraceEncoder>();
    const Bytes expected = payload_of(*encoder, protocol::TraceModel::pieces);
    for (const std::size_t pieces : {1, 7, 100}) {
        // The encoder has learned from the group before, and forgets all of it.
        EXPECT_EQ(payload_of(*encoder, pieces), expected) << pieces;
    }
    // A frame that goes on with a group has nothing to prepare.
    Bytes payload(protocol::max_payload_bytes);
    encoder->begin(payload.data(), {.index = encoder->next_index(), .clock = records.back().clock});
    EXPECT_TRUE(encoder->prepare(0));
}

TEST(Codec, RestartMakesAKeyFrame) {
    auto encoder = std::make_unique<protocol::TraceEncoder>();
    Bytes payload(protocol::max_payload_bytes);
    // Before record 9, records were lost, for example overwritten.
    for (const auto& [index, is_key] :
         {std::pair{0u, true}, {1u, false}, {2u, true}, {3u, false}, {9u, true}}) {
        if (index == 2) encoder->restart();
        encoder->begin(payload.data(), {.index = index});
        std::size_t at = 0;
        fill(*encoder, {stamped(Kind::call, 1, 4)}, at);
        encoder->end();
        EXPECT_EQ((payload[0] & 1) != 0, is_key) << index;
    }
}

TEST(Codec, RefusesBytesThatNoEncoderWrites) {
    auto decoder = std::make_unique<protocol::TraceDecoder>();
    EXPECT_EQ(decoder->open(nullptr, 0), Opened::malformed);
    const auto opened = [&](const Bytes& bytes) {
        return decoder->open(bytes.data(), bytes.size());
    };
    EXPECT_EQ(opened({1, 1, 0, 0, 0, 1, 2, 3}), Opened::malformed) << "it has no whole base";
    Bytes large_context{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x0f};
    EXPECT_EQ(opened(large_context), Opened::ready);
    EXPECT_EQ(decoder->header().context, protocol::argument_mask);
    large_context.back() = 0x10;
    EXPECT_EQ(opened(large_context), Opened::malformed);
    EXPECT_EQ(opened({2, 1, 0, 0}), Opened::malformed) << "an unknown flag";
    // A group that begins with a return while no call is open. The test finds one by trying. No
    // bytes set the bit that is always zero, by which readers recognize an invalid record.
    std::mt19937 random(3);
    unsigned refused = 0;
    std::size_t count = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        Bytes bytes = key_frame(200);
        for (unsigned n = 0; n < 60; ++n) bytes.push_back(static_cast<std::uint8_t>(random()));
        ASSERT_EQ(opened(bytes), Opened::ready);
        Records read;
        const bool whole = decode(*decoder, {bytes, 200, 0}, read);
        for (const auto& each : read) ASSERT_EQ(each.record.word >> 34 & 1, 0u);
        count += read.size();
        if (whole) continue;
        ++refused;
        bytes[0] = 0;
        ASSERT_EQ(opened(bytes), Opened::skipped);
    }
    EXPECT_GT(refused, 100u);
    EXPECT_GT(count, 3000u);
}

// The encoded decisions that give a new model its first token.
TEST(Codec, RefusesTokensThatNoEncoderHas) {
    const auto is_read = [](std::uint32_t token) {
        Bytes payload = key_frame(1);
        const std::size_t header = payload.size();
        payload.resize(64);
        protocol::Probability even = protocol::even_odds, main = even / 8, other = main,
                              known = even, time = even;
        protocol::RangeEncoder coder;
        coder.start(payload.data() + header);
        for (auto* const odds : {&even, &main, &other, &known}) coder.bit(*odds, false);
        coder.plain(token >> 16, 16);
        coder.plain(token, 16);
        coder.bit(time, true);
        payload.resize(static_cast<std::size_t>(coder.finish() - payload.data()));
        auto decoder = std::make_unique<protocol::TraceDecoder>();
        Records decoded;
        return decode(*decoder, {payload, 1, 0}, decoded) && decoded.size() == 1;
    };
    EXPECT_TRUE(is_read(4 | static_cast<std::uint32_t>(Kind::entry)));
    EXPECT_FALSE(is_read(4 | static_cast<std::uint32_t>(Kind::ret)));
    const auto data = static_cast<std::uint32_t>(protocol::Extended::data) << 3 | 7;
    EXPECT_TRUE(is_read(data));
    EXPECT_FALSE(is_read(data | 1 << 7));  // with an argument
}

TEST(Codec, RoundTripsEachKindOfExtendedRecord) {
    using protocol::Extended;
    Records records;
    std::uint64_t clock = 1;
    for (const std::uint64_t value :
         {0ull, 1ull, ~0ull, 1ull << 55, 1ull << 56, (1ull << 63) - 1, 1ull << 63}) {
        for (const std::uint32_t argument : {0u, 1u, protocol::argument_mask}) {
            const std::uint64_t low = value & protocol::data_mask;
            const std::uint64_t high = value >> protocol::data_bits;
            const std::uint64_t site = value >> (64 - protocol::payload_bits);
            const auto add = [&](Extended what, std::initializer_list<std::uint64_t> data) {
                add_with_data(records, what, argument, clock += 9, data);
            };
            add(Extended::duration, {site, low});
            add(Extended::arguments, {site, low, high, low});
            add(Extended::result, {site, low, high});
            add(Extended::counter, {low, high});
            add(Extended::marker, {});
            add(Extended::context, {});
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
    const double bits = 8 * static_cast<double>(bytes) / 20000;  // of one
    EXPECT_LT(bits, 4.33 + 9 + 3);
    EXPECT_GT(bits, 4.3 + 4);  // the random part
}

// For tests/conformance/trace2.py, a decoder that was written from docs/trace-format.md. The
// console contains the results that the decoder must find.
TEST(Codec, Golden) {
    Records records = CallTrace(6, 60, 2).records(9000);
    const Records more = anything(41, 800);
    records.insert(records.end(), more.begin(), more.end());
    Bytes line = line_of(records);

    Bytes packed(records.size() * 17);
    protocol::Writer out(packed.data());
    for (const auto& [record, clock] : records) {
        const bool is_data = record.is(protocol::Extended::data);
        out.fixed(static_cast<std::uint8_t>(record.kind()));
        out.fixed(is_data ? record.data() << 4 | 15 : std::uint64_t{record.payload()});
        out.fixed(clock);
    }
    TargetStream target;
    target.session = 1;
    target.console(fmt::format("{} records {:08x}", records.size(),
                               protocol::crc32c(packed.data(), packed.size())));
    line.insert(line.end(), target.bytes.begin(), target.bytes.end());
    expect_golden("records.bin", std::string(line.begin(), line.end()));
}

TEST(Ev13, UnbalancedTracesRoundTrip) {
    const CallEvent events[] = {{1, 7, 100}, {0, 1, 200}, {0, 2, 300}, {1, 8, 350},
                                {2, 1, 400}, {1, 9, 90},  {0, 5, 500}};
    Bytes bytes(std::size(events) * ev13_bytes);
    protocol::Writer out(bytes.data());
    for (const CallEvent& each : events) {
        out.fixed(each.type);
        out.fixed(each.id);
        out.fixed(each.ticks);
    }
    Ev13 trace(bytes, 1'000'000'000);
    EXPECT_EQ(trace.events(), 7u);
    EXPECT_EQ(trace.records(), 10u);  // 7, 8 and 9 began before the trace
    LineEncoder encoder;
    Records all;
    for (auto records = trace.next(); !records.empty(); records = trace.next()) {
        encoder.feed(records);
        all.insert(all.end(), records.begin(), records.end());
    }
    encoder.finish();
    EXPECT_EQ(all[0].record.payload(), 9u);
    EXPECT_EQ(all[2].record.payload(), 7u);
    Bytes line = encoder.line();
    LineDecoder decoder(line);
    const auto decoded = decoder.next(100);
    ASSERT_EQ(decoded.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(decoded[i].record.word, all[i].record.word) << i;
        EXPECT_EQ(decoded[i].clock, all[i].clock) << i;
    }
}

}  // namespace nopscope::host::test::codec_test
