// SPDX-License-Identifier: Apache-2.0
// Bytes -> frames -> sessions: order, loss, resets, and the sums that must always hold.
#include "host-tools/line/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/target_stream.hpp"

namespace nopscope {
namespace {

using test::Bytes;
using test::TargetStream;

struct Sink : SessionSink {
    void on_session(const HelloInfo& hello) override { sessions.push_back(hello.session); }
    void on_session_end() override { ++ended; }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        gaps += batch.gap;
        for (std::size_t i = 0; i < batch.records.size(); ++i) {
            indices.push_back({core, batch.first_index + i});
        }
    }
    void on_console(std::string_view text) override { console += text; }
    void on_raw_text(std::string_view text) override { raw += text; }

    std::vector<std::uint16_t> sessions;
    std::vector<std::pair<unsigned, std::uint64_t>> indices;
    std::string console;
    std::string raw;
    int ended = 0;
    int gaps = 0;
};

class Session : public testing::Test {
protected:
    void read() {
        reader.feed(target.bytes);
        reader.finish();
        counters = reader.counters();
        EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost);
        EXPECT_EQ(counters.delivered, sink.indices.size());
    }
    void four_calls() {
        for (std::uint32_t i = 0; i < 4; ++i) target.ret(target.entry(i));
    }
    void two_megabytes() {
        for (int i = 0; i < 600'000; ++i) target.entry(1, 1u << 20);
        target.flush();
    }
    void malformed(wire::Stream stream, const Bytes& payload) {
        std::copy(payload.begin(), payload.end(), target.payload());
        target.frame(stream, 0, payload.size());
    }

    TargetStream target;
    Sink sink;
    SessionReader reader{sink};
    StreamCounters counters;
};

TEST_F(Session, AWholeRecording) {
    target.hello();
    target.records_per_frame = 3;
    four_calls();
    target.console("hi\n");
    target.finish();
    read();
    EXPECT_EQ(counters.delivered, 8u);
    EXPECT_EQ(counters.generated, 8u);
    EXPECT_EQ(counters.gaps, 0u);
    EXPECT_EQ(counters.sessions, 1u);
    EXPECT_TRUE(counters.complete);
    EXPECT_EQ(counters.inconsistent, 0u);
    EXPECT_EQ(sink.console, "hi\n");
    EXPECT_EQ(sink.ended, 1);
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
    EXPECT_EQ(reader.line().cut_bytes, 0u);
}

TEST_F(Session, BytesMayComeInAnyPieces) {
    target.hello();
    four_calls();
    target.finish();
    for (const std::uint8_t byte : target.bytes) reader.feed({&byte, 1});
    reader.finish();
    EXPECT_EQ(reader.counters().delivered, 8u);
    EXPECT_TRUE(reader.counters().complete);
}

TEST_F(Session, DroppedByTheTarget) {
    target.hello();
    four_calls();
    target.drop(5);
    target.flush();
    target.drop(2);
    target.finish();
    read();
    EXPECT_EQ(counters.dropped, 7u);
    EXPECT_EQ(counters.generated, 15u);
    EXPECT_EQ(counters.lost, 0u);
    EXPECT_EQ(counters.gaps, 0u);
}

TEST_F(Session, LostFramesAreAGap) {
    target.hello();
    four_calls();
    target.flush();
    target.entry(1);
    target.entry(1);
    target.lose();
    target.skip_sequence(wire::Stream::trace);
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.lost, 2u);
    EXPECT_EQ(counters.gaps, 1u);
    EXPECT_EQ(counters.lost_frames, 1u);
    EXPECT_EQ(sink.gaps, 1);
    EXPECT_EQ(counters.generated, 18u);
}

TEST_F(Session, RecordsMissingWithoutALostFrameAreAGapToo) {
    target.hello();
    target.entry(1);
    target.lose();
    target.entry(1);
    target.finish();
    read();
    EXPECT_EQ(counters.lost, 1u);
    EXPECT_EQ(counters.gaps, 1u);
    EXPECT_EQ(counters.lost_frames, 0u);
}

TEST_F(Session, RecordsMissingAtTheEndAreLost) {
    target.hello();
    four_calls();
    target.flush();
    target.entry(1);
    target.lose();
    target.finish();
    read();
    EXPECT_EQ(counters.lost, 1u);
    EXPECT_EQ(counters.gaps, 1u);
    EXPECT_EQ(counters.generated, 9u);
    EXPECT_EQ(counters.inconsistent, 0u);
}

TEST_F(Session, ConsoleFramesMissingAreAGap) {
    target.hello();
    target.console("a");
    target.skip_sequence(wire::Stream::console);
    target.console("b");
    read();
    EXPECT_EQ(counters.gaps, 1u);
    EXPECT_EQ(counters.lost_frames, 1u);
    EXPECT_FALSE(counters.complete);
}

TEST_F(Session, DuplicatesAreIgnoredAndCounted) {
    target.hello();
    four_calls();
    target.console("once\n");
    const Bytes once = target.bytes;
    target.bytes.insert(target.bytes.end(), once.begin(), once.end());
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.duplicate_frames, 3u);  // hello, trace, console
    EXPECT_EQ(counters.repeated_records, 0u);
    EXPECT_EQ(sink.console, "once\n");
    EXPECT_EQ(counters.delivered, 16u);
    EXPECT_EQ(counters.gaps, 0u);
}

TEST_F(Session, TraceThatGoesBackIsIgnored) {
    target.hello();
    four_calls();
    target.flush();
    target.set_next_index(3);
    target.entry(1);
    target.flush();
    target.set_next_index(8);
    target.finish();
    read();
    EXPECT_EQ(counters.repeated_records, 1u);
    EXPECT_EQ(counters.delivered, 8u);
}

TEST_F(Session, SequencesWrap) {
    target.hello();
    // The first is a gap, as is the second; the wrap is none.
    for (const std::uint32_t sequence : {0x7fffffffu, 0xfffffffeu, 0xffffffffu, 0u, 1u}) {
        wire::FrameBuilder builder;
        builder.payload()[0] = 'y';
        wire::Byte line[wire::max_encoded_bytes];
        const std::size_t count =
            builder.encode({wire::Stream::console, 0, target.session, sequence}, 1, line);
        target.bytes.insert(target.bytes.end(), line, line + count);
    }
    read();
    EXPECT_EQ(sink.console, "yyyyy");
    EXPECT_EQ(counters.gaps, 2u);
    EXPECT_EQ(counters.duplicate_frames, 0u);
}

TEST_F(Session, CoresAreIndependent) {
    target.cores = 2;
    target.hello();
    target.entry(1, 10, 0);
    target.entry(2, 10, 1);
    target.entry(3, 10, 1);
    target.stats(true, 0);
    read();
    EXPECT_THAT(sink.indices, testing::ElementsAre(testing::Pair(0, 0), testing::Pair(1, 0),
                                                   testing::Pair(1, 1)));
    EXPECT_FALSE(counters.complete) << "core 1 never finished";
    EXPECT_EQ(counters.gaps, 0u);
}

TEST_F(Session, AResetIsANewSession) {
    target.hello();
    four_calls();
    target.finish();
    target.reset();
    target.hello();
    four_calls();
    target.drop(1);
    target.flush();
    read();
    EXPECT_EQ(counters.sessions, 2u);
    EXPECT_EQ(counters.generated, 17u);
    EXPECT_EQ(counters.gaps, 0u);
    EXPECT_EQ(sink.ended, 2);
    EXPECT_FALSE(counters.complete) << "the second session did not finish";
}

TEST_F(Session, FramesWaitForTheirHello) {
    const std::size_t hello_at = target.bytes.size();
    target.hello();
    const Bytes hello(target.bytes.begin() + static_cast<long>(hello_at), target.bytes.end());
    target.bytes.clear();
    four_calls();
    target.flush();
    target.bytes.insert(target.bytes.end(), hello.begin(), hello.end());
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.delivered, 16u);
    EXPECT_EQ(counters.gaps, 0u);
    EXPECT_EQ(counters.homeless_frames, 0u);
}

TEST_F(Session, FramesWithoutAHelloAreCountedAndBounded) {
    two_megabytes();
    ASSERT_GT(target.bytes.size(), 2u << 20);
    read();
    EXPECT_EQ(counters.homeless_frames, target.frame_ends.size());
    EXPECT_EQ(counters.delivered, 0u);
    EXPECT_EQ(counters.sessions, 0u);
}

TEST_F(Session, OnlySoMuchWaitsForAHello) {
    two_megabytes();
    target.hello();
    target.finish();
    read();
    EXPECT_GT(counters.homeless_frames, 1000u);
    EXPECT_GT(counters.delivered, 100'000u);
    EXPECT_EQ(counters.generated, 600'000u);
    EXPECT_GT(counters.lost, 200'000u);
}

TEST_F(Session, AnotherFormatVersionIsRefused) {
    target.version = 9;
    target.hello();
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.refused_version, 9);
    EXPECT_EQ(counters.delivered, 0u);
    EXPECT_FALSE(counters.complete);
}

TEST_F(Session, AnotherImageAfterAResetIsLeftOut) {
    target.hello();
    four_calls();
    target.finish();
    target.reset();
    target.build_id = "another";
    target.hello();
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.sessions, 1u);
    EXPECT_EQ(counters.other_image_sessions, 1u);
    EXPECT_EQ(counters.delivered, 8u);
    EXPECT_EQ(counters.homeless_frames, 2u);
}

TEST_F(Session, UnknownStreamsAreSkipped) {
    target.hello();
    target.frame(static_cast<wire::Stream>(10), 0, 5);
    target.frame(static_cast<wire::Stream>(0), 0, 5);
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(counters.unknown_frames, 2u);
    EXPECT_TRUE(counters.complete);
}

TEST_F(Session, WhatMakesNoSenseIsMalformed) {
    target.hello();
    malformed(wire::Stream::trace, {1, 2, 3});        // no whole header
    malformed(wire::Stream::stats, {0x80});           // a varint cut off
    malformed(wire::Stream::trace, {2, 0, 0, 0});     // flags of nobody's
    Bytes far_index{1, 1, 0, 0};                      // an index nobody reaches
    far_index.insert(far_index.end(), 8, 0xff);
    far_index.push_back(1);
    far_index.insert(far_index.end(), 10, 0);
    malformed(wire::Stream::trace, far_index);
    malformed(wire::Stream::trace, test::no_record());
    target.frame(wire::Stream::trace, 5, 24);  // a core that is not there
    malformed(wire::Stream::hello, {2, 0, 0});
    read();
    EXPECT_EQ(counters.malformed_frames, 7u);
    EXPECT_EQ(counters.delivered, 0u);
}

TEST_F(Session, LastStatsThatContradictTheRecords) {
    target.hello();
    four_calls();
    target.flush();
    target.set_next_index(5);
    target.finish();
    read();
    EXPECT_EQ(counters.inconsistent, 1u);
    EXPECT_EQ(counters.delivered, 8u);
}

TEST_F(Session, PlainTextBetweenFramesIsShown) {
    target.raw("U-Boot 2023.01\r\nbooting\n");
    target.bytes.push_back(0);
    target.hello();
    target.raw("panic: ");
    reader.feed(target.bytes);
    EXPECT_EQ(sink.raw, "U-Boot 2023.01\r\nbooting\n");
    reader.show_pending_text();
    EXPECT_EQ(sink.raw, "U-Boot 2023.01\r\nbooting\npanic: ");
    const std::string more = "no stack\n";
    reader.feed({reinterpret_cast<const std::uint8_t*>(more.data()), more.size()});
    reader.finish();
    EXPECT_EQ(sink.raw, "U-Boot 2023.01\r\nbooting\npanic: no stack\n");
    EXPECT_EQ(reader.line().corrupt_frames, 1u);
    EXPECT_EQ(reader.line().raw_bytes, 24u + 16u);
    EXPECT_EQ(reader.line().cut_bytes, 16u);
    EXPECT_EQ(reader.counters().sessions, 1u);
}

TEST_F(Session, AnEndlessChunkTakesNoMemoryAndItsTextIsShown) {
    const std::string line(1000, 'x');
    for (int i = 0; i < 5000; ++i) {
        reader.feed({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
    }
    EXPECT_GT(sink.raw.size(), 4'990'000u);
    const Bytes noise(5'000'000, 0xaa);
    reader.feed(noise);
    const std::uint8_t zero = 0;
    reader.feed({&zero, 1});
    target.hello();
    four_calls();
    target.finish();
    read();
    EXPECT_EQ(reader.line().corrupt_frames, 1u);
    EXPECT_EQ(counters.delivered, 8u);
}

TEST_F(Session, AHalfFrameAtTheEndIsCut) {
    target.hello();
    four_calls();
    target.finish();
    target.bytes.pop_back();  // only the last delimiter
    read();
    EXPECT_GT(reader.line().cut_bytes, 0u);
    EXPECT_FALSE(counters.complete);
}

TEST_F(Session, DelimitersWithoutAFrameAreCounted) {
    target.hello();
    target.bytes.push_back(0);
    target.finish();
    read();
    EXPECT_EQ(reader.line().stray_zeros, 1u);
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
}

}  // namespace
}  // namespace nopscope
