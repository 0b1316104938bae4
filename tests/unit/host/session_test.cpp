// SPDX-License-Identifier: Apache-2.0
// From bytes to frames to sessions: order, loss, resets, and the sums that must always hold.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_test {

TEST_F(Session, AWholeRecording) {
    target.hello();
    target.records_per_frame = 3;
    four_calls();
    target.console("hi\n");
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8");
    EXPECT_EQ(sink.console, "hi\n");
    EXPECT_EQ(sink.ended, 1);
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
    EXPECT_EQ(reader.line().cut_bytes, 0u);
}

TEST_F(Session, BytesMayComeInAnyPieces) {
    hello_and_four_calls();
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
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, dropped 7");
}

TEST_F(Session, LostFramesAreAGap) {
    hello_and_four_calls();
    play("1( 1( x # # #");
    four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 16, lost 2, gaps 1, lost_frames 3");
    EXPECT_EQ(sink.gaps, 1);
}

TEST_F(Session, KnownRecordsAreNotDeliveredAgain) {
    target.hello();
    play("0( 1( 2( 3( |");
    target.set_next_index(2);
    play("2( 3( 4( 5( 6(");
    finish_and_read();
    EXPECT_EQ(told(), "delivered 7, repeated_records 2");
    ASSERT_EQ(sink.indices.size(), 7u);
    for (std::uint64_t index = 0; index < 7; ++index) EXPECT_EQ(sink.indices[index].second, index);
}

TEST_F(Session, RecordsMissingWithoutALostFrameAreAGapToo) {
    target.hello();
    play("1( x 1(");
    finish_and_read();
    EXPECT_EQ(told(), "delivered 1, lost 1, gaps 1");
}

TEST_F(Session, RecordsMissingAtTheEndAreLost) {
    hello_and_four_calls();
    play("1( x");
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, lost 1, gaps 1");
}

TEST_F(Session, ConsoleFramesMissingAreAGap) {
    target.hello();
    target.console("a");
    target.skip_sequence(Stream::console);
    target.console("b");
    read();
    EXPECT_EQ(told(), "gaps 1, lost_frames 1, unfinished_sessions 1, not complete");
}

TEST_F(Session, DuplicatesAreIgnoredAndCounted) {
    target.hello();
    four_calls();
    target.console("once\n");
    const Bytes once = target.bytes;
    target.bytes.insert(target.bytes.end(), once.begin(), once.end());
    four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 16, duplicate_frames 3");
    EXPECT_EQ(sink.console, "once\n");
}

TEST_F(Session, TraceThatGoesBackIsIgnored) {
    hello_and_four_calls();
    target.set_next_index(3);
    play("1( |");
    target.set_next_index(8);
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, repeated_records 1");
}

TEST_F(Session, SequencesWrap) {
    target.hello();
    // The first two sequence numbers follow gaps. The wrap is not a gap.
    for (const std::uint32_t sequence : {0x7fffffffu, 0xfffffffeu, 0xffffffffu, 0u, 1u}) {
        protocol::FrameBuilder builder;
        builder.payload()[0] = 'y';
        protocol::Byte line[protocol::max_encoded_bytes];
        const std::size_t count =
            builder.encode({Stream::console, 0, target.session, sequence}, 1, line);
        target.bytes.insert(target.bytes.end(), line, line + count);
    }
    read();
    EXPECT_EQ(sink.console, "yyyyy");
    EXPECT_EQ(told(), "gaps 2, lost_frames 4294967293, unfinished_sessions 1, not complete");
}

TEST_F(Session, CoresAreIndependent) {
    target.cores = 2;
    target.hello();
    target.entry(1, 10, 0);
    target.entry(2, 10, 1);
    target.entry(3, 10, 1);
    target.stats(true, 0);
    read();
    EXPECT_THAT(sink.indices,
                ElementsAre(testing::Pair(0, 0), testing::Pair(1, 0), testing::Pair(1, 1)));
    EXPECT_EQ(told(), "delivered 3, unfinished_sessions 1, generated_at_least 1, not complete");
}

TEST_F(Session, UnknownStreamsAreSkipped) {
    target.hello();
    target.frame(static_cast<Stream>(11), 0, 5);
    target.frame(static_cast<Stream>(0), 0, 5);
    four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, unknown_frames 2");
}

TEST_F(Session, InvalidPayloadsAreMalformed) {
    target.hello();
    Bytes far_index{1, 1, 0, 0};  // an index that no target reaches
    far_index.insert(far_index.end(), 8, 0xff);
    far_index.push_back(1);
    far_index.insert(far_index.end(), 10, 0);
    for (const Bytes& trace : {Bytes{1, 2, 3},     // the header is incomplete
                               Bytes{2, 0, 0, 0},  // unknown flags
                               far_index, no_record()}) {
        target.frame(Stream::trace, trace);
    }
    target.frame(Stream::stats, Bytes{0x80});  // the varint is cut off
    target.frame(Stream::trace, 5, 24);        // this core does not exist
    target.frame(Stream::hello, Bytes{2, 0, 0});
    read();
    EXPECT_EQ(told(), "malformed_frames 7, unfinished_sessions 1, not complete");
}

TEST_F(Session, LastStatsThatContradictTheRecords) {
    hello_and_four_calls();
    target.set_next_index(5);
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, inconsistent 1, generated_at_least 1");
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
    const LineCounters& line = reader.line();
    EXPECT_EQ(std::tuple(line.corrupt_frames, line.lead_bytes, line.raw_bytes, line.cut_bytes),
              std::tuple(0u, 24u, 16u, 16u));
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
    hello_and_four_calls();
    finish_and_read();
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
    EXPECT_EQ(reader.line().lead_bytes, 10'000'000u);
    EXPECT_EQ(told(), "delivered 8");
}

TEST_F(Session, AHalfFrameAtTheEndIsCut) {
    hello_and_four_calls();
    target.finish();
    target.bytes.pop_back();  // only the last delimiter is missing
    read();
    EXPECT_GT(reader.line().cut_bytes, 0u);
    EXPECT_EQ(told(), "delivered 8, unfinished_sessions 1, generated_at_least 1, not complete");
}

TEST_F(Session, DelimitersWithoutAFrameAreCounted) {
    target.hello();
    target.bytes.push_back(0);
    finish_and_read();
    EXPECT_EQ(reader.line().stray_zeros, 1u);
    EXPECT_EQ(reader.line().corrupt_frames, 0u);
}

// `generated` is exact only if the target's stats are its last frame.
TEST_F(Session, GeneratedIsWhatTheTargetSaysOrAtLeastWhatCame) {
    hello_and_four_calls();
    EXPECT_EQ(counted().generated_at_least, 1u);
    EXPECT_EQ(counted().generated, 8u);
    target.stats(false);  // it continues recording
    EXPECT_EQ(counted().generated_at_least, 1u);
    target.state.has_state = true;
    target.state.stopped_at = 5;
    target.stats(false);
    EXPECT_EQ(counted().generated_at_least, 0u);
    four_calls();  // it records again
    target.flush();
    EXPECT_EQ(counted().generated_at_least, 1u);
    EXPECT_EQ(counted().generated, 16u);
    target.finish();
    EXPECT_EQ(counted().generated_at_least, 0u);
}

// A return after a stop may find no room. No stats frame contains its drop yet.
TEST_F(Session, ADropAfterTheStopsStatsMakesThemALowerBound) {
    hello_and_four_calls();
    protocol::Stats last{.generated = 8, .delivered = 8, .has_state = true, .stopped_at = 5};
    stats(last);
    EXPECT_EQ(counted().generated_at_least, 0u);
    last.dropped = 1;
    stats(last);
    const StreamCounters counters = counted();
    EXPECT_EQ(counters.generated_at_least, 1u);
    EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost);
}

TEST_F(Session, FinalStatsThatContradictTheRecordsAreNotMadeToAgree) {
    hello_and_four_calls();
    stats({.generated = 100, .delivered = 8, .final = 1});
    EXPECT_EQ(counted().generated, 100u);
    EXPECT_EQ(counted().inconsistent, 1u);
}

// The target read the clock before the first byte came, and at most 70 ms before.
TEST_F(Session, AStatsFrameOfCore0IsAClockPair) {
    constexpr std::uint64_t ms = 1'000'000, noon = 1'000'000 * ms;
    target.cores = 2;
    target.hello();
    target.stats(false);
    target.stats(false, 1);
    (void)counted();
    EXPECT_TRUE(sink.pairs.empty());  // the arrival time is unknown
    target.ret(target.entry(1));
    target.stats(false);
    target.stats(false, 1);
    reader.set_arrival({.from_ns = noon, .to_ns = noon + 10 * ms});
    (void)counted();
    ASSERT_EQ(sink.pairs.size(), 1u);
    EXPECT_EQ(sink.pairs[0], (ClockPair{target.clock, noon - 30 * ms, 40 * ms, false}));
    // The host's clock was set back in between.
    target.stats(false);
    reader.set_arrival({.from_ns = noon, .to_ns = noon - ms});
    (void)counted();
    EXPECT_EQ(sink.pairs.size(), 1u);
}

}  // namespace nopscope::host::test::session_test
