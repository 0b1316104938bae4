// SPDX-License-Identifier: Apache-2.0
// From bytes to frames to sessions: order, loss, resets, and the sums that must always hold.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_test {

class SessionCourse : public CourseOf<Session> {};
TEST_P(SessionCourse, AsItWas) { expect_told(); }

constexpr Course courses[] = {
    {"AWholeRecording", "hello calls | calls | text end", "delivered 16"},
    {"DroppedByTheTarget", "hello calls drop5 | drop2 end", "delivered 8, dropped 7"},
    {"LostFramesAreAGap", "hello calls | 1( 1( x # # # calls end",
     "delivered 16, lost 2, gaps 1, lost_frames 3"},
    {"KnownRecordsAreNotDeliveredAgain", "hello 0( 1( 2( 3( | at2 2( 3( 4( 5( 6( end",
     "delivered 7, repeated_records 2"},
    {"RecordsMissingWithoutALostFrameAreAGapToo", "hello 1( x 1( end",
     "delivered 1, lost 1, gaps 1"},
    {"RecordsMissingAtTheEndAreLost", "hello calls | 1( x end", "delivered 8, lost 1, gaps 1"},
    {"ConsoleFramesMissingAreAGap", "hello text untold text",
     "gaps 1, lost_frames 1, unfinished_sessions 1, not complete"},
    {"DuplicatesAreIgnoredAndCounted", "hello calls text again calls end",
     "delivered 16, duplicate_frames 3"},
    {"TraceThatGoesBackIsIgnored", "hello calls | at3 1( | at8 end",
     "delivered 8, repeated_records 1"},
    {"LastStatsThatContradictTheRecords", "hello calls | at5 end",
     "delivered 8, inconsistent 1, generated_at_least 1"},
    {"AHalfFrameAtTheEndIsCut", "hello calls end cut1",
     "delivered 8, unfinished_sessions 1, generated_at_least 1, cut_bytes 26, not complete"},
    {"DelimitersWithoutAFrameAreCounted", "hello zero end", "stray_zeros 1"},
    {"AFrameWithADamagedByteIsCounted", "hello calls | damage end",
     "lost 8, gaps 1, corrupt_frames 1"},
    // The lines that a board prints before its frames, and which other bytes count as damage.
    {"LinesBetweenTwoSessionsAreNoDamage", "hello calls | lines zero reset hello end",
     "delivered 8, sessions 2, unfinished_sessions 1, generated_at_least 1, lead_bytes 56"},
    {"AFrameThatAResetHasCutIsCountedWithoutTheLinesBehindIt",
     "hello calls | cut5 lines zero reset hello end",
     "sessions 2, unfinished_sessions 1, corrupt_frames 1, lead_bytes 56"},
    {"OtherTextBetweenFramesIsDamage", "hello panic zero end", "corrupt_frames 1, raw_bytes 6"},
    {"BootLinesAtTheEndAreNotCut", "hello lines",
     "unfinished_sessions 1, lead_bytes 56, not complete"},
    // How a session begins.
    {"AResetIsANewSession", "hello calls end reset hello calls drop1 |",
     "delivered 16, dropped 1, sessions 2, unfinished_sessions 1, generated_at_least 1, "
     "not complete"},
    {"RecordsKeptOverAWarmResetStayInTheirSession",
     "hello calls | recovered hello hello calls end reset fresh hello",
     "delivered 16, sessions 2, unfinished_sessions 1, recovered_sessions 1, not complete"},
    {"FramesWaitForTheirHello", "calls | hello calls end", "delivered 16"},
    {"AnotherImageAfterAResetIsLeftOut", "hello calls end reset other hello calls end",
     "delivered 8, frames_without_hello 2, other_image_sessions 1, not complete"},
};
INSTANTIATE_TEST_SUITE_P(, SessionCourse, testing::ValuesIn(courses), name_of_course);

TEST_F(Session, BytesMayComeInAnyPieces) {
    take("hello calls end");
    for (const std::uint8_t byte : std::exchange(target.bytes, {})) reader.feed({&byte, 1});
    EXPECT_EQ(told_of(""), "delivered 8");
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
    EXPECT_EQ(told_of(""), "gaps 2, lost_frames 4294967293, unfinished_sessions 1, not complete");
    EXPECT_EQ(sink.console, "yyyyy");
}

TEST_F(Session, CoresAreIndependent) {
    target.cores = 2;
    take("hello 1( 2(@1 3(@1");
    target.stats(true, 0);
    EXPECT_EQ(told_of(""),
              "delivered 3, unfinished_sessions 1, generated_at_least 1, not complete");
    EXPECT_EQ(sink.next, (std::map<unsigned, std::uint64_t>{{0, 1}, {1, 2}}));
}

TEST_F(Session, UnknownStreamsAreSkipped) {
    target.hello();
    target.frame(static_cast<Stream>(11), 0, 5);
    target.frame(static_cast<Stream>(0), 0, 5);
    EXPECT_EQ(told_of("calls end"), "delivered 8, unknown_frames 2");
}

TEST_F(Session, InvalidPayloadsAreMalformed) {
    target.hello();
    Bytes far_index{1, 1, 0, 0};  // an index that no target reaches
    far_index.insert(far_index.end(), 8, 0xff);
    far_index.push_back(1);
    far_index.insert(far_index.end(), 10, 0);
    const Bytes no_record{
        1,   1,   0,  0,  0,   0,  0,   0,   0,  0,   0,   0,  0,   0,   0,  // a head, and noise
        220, 207, 70, 35, 111, 20, 177, 255, 72, 160, 210, 13, 220, 251, 239, 146, 52, 81, 22, 58};
    for (const Bytes& trace : {Bytes{1, 2, 3},     // the header is incomplete
                               Bytes{2, 0, 0, 0},  // unknown flags
                               far_index, no_record}) {
        target.frame(Stream::trace, trace);
    }
    target.frame(Stream::stats, Bytes{0x80});  // the varint is cut off
    target.frame(Stream::trace, 5, 24);        // this core does not exist
    target.frame(Stream::hello, Bytes{2, 0, 0});
    EXPECT_EQ(told_of(""), "malformed_frames 7, unfinished_sessions 1, not complete");
}

TEST_F(Session, PlainTextBetweenFramesIsShown) {
    take("lines zero hello");
    target.raw("panic: ");
    const std::string lines = std::exchange(said, said + "panic: no stack\n");
    (void)counted();
    EXPECT_EQ(sink.raw, lines);
    reader.show_pending_text();
    EXPECT_EQ(sink.raw, lines + "panic: ");
    target.raw("no stack\n");
    EXPECT_EQ(told_of(""),
              "unfinished_sessions 1, raw_bytes 16, cut_bytes 16, lead_bytes 56, not complete");
}

TEST_F(Session, AnEndlessChunkTakesNoMemoryAndItsTextIsShown) {
    for (int i = 0; i < 5000; ++i) {
        target.raw(std::string(1000, 'x'));
        (void)counted();
    }
    EXPECT_GT(sink.raw.size(), 4'990'000u);
    target.bytes.assign(5'000'000, 0xaa);
    (void)counted();
    said = sink.raw;
    EXPECT_EQ(told_of("zero hello calls end"), "delivered 8, lead_bytes 10000000");
}

// `generated` is exact only if the target's stats are its last frame.
TEST_F(Session, GeneratedIsWhatTheTargetSaysOrAtLeastWhatCame) {
    const auto generated = [this](const std::string& course) {
        take(course);
        const StreamCounters all = counted();
        return fmt::format("{}{}", all.generated_at_least != 0 ? "at least " : "", all.generated);
    };
    EXPECT_EQ(generated("hello calls |"), "at least 8");
    target.stats(false);  // it continues recording
    EXPECT_EQ(generated(""), "at least 8");
    target.state.has_state = true;
    target.state.stopped_at = 5;
    target.stats(false);
    EXPECT_EQ(generated(""), "8");
    EXPECT_EQ(generated("calls |"), "at least 16");  // it records again
    EXPECT_EQ(generated("end"), "16");
}

// A return after a stop may find no room. No stats frame contains its drop yet.
TEST_F(Session, ADropAfterTheStopsStatsMakesThemALowerBound) {
    take("hello calls |");
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
    take("hello calls |");
    stats({.generated = 100, .delivered = 8, .final = 1});
    EXPECT_EQ(counted().generated, 100u);
    EXPECT_EQ(counted().inconsistent, 1u);
}

// The target read the clock before the first byte came, and at most 70 ms before.
TEST_F(Session, AStatsFrameOfCore0IsAClockPair) {
    constexpr std::uint64_t ms = 1'000'000, noon = 1'000'000 * ms;
    target.cores = 2;
    target.hello();
    const auto pairs = [this] {
        target.stats(false);
        target.stats(false, 1);
        (void)counted();
        return sink.pairs.size();
    };
    EXPECT_EQ(pairs(), 0u) << "the arrival time is unknown";
    target.ret(target.entry(1));
    reader.set_arrival({.from_ns = noon, .to_ns = noon + 10 * ms});
    ASSERT_EQ(pairs(), 1u);
    EXPECT_EQ(sink.pairs[0], (ClockPair{target.clock, noon - 30 * ms, 40 * ms, false}));
    reader.set_arrival({.from_ns = noon, .to_ns = noon - ms});
    EXPECT_EQ(pairs(), 1u) << "the host's clock was set back in between";
}

TEST_F(Session, FramesWithoutAHelloAreCountedAndBounded) {
    for (int i = 0; i < 600'000; ++i) target.entry(1, 1u << 20);
    target.flush();
    ASSERT_GT(target.bytes.size(), 2u << 20);
    const Bytes two_megabytes = target.bytes;
    EXPECT_EQ(told_of(""), fmt::format("frames_without_hello {}, sessions 0, not complete",
                                       target.frame_ends.size()));
    Sink another;
    SessionReader waits(another);
    waits.feed(two_megabytes);
    target.bytes.clear();
    take("hello end");
    waits.feed(target.bytes);
    waits.finish();
    EXPECT_GT(waits.counters().frames_without_hello, 1000u);
    EXPECT_GT(waits.counters().delivered, 100'000u);
    EXPECT_EQ(waits.counters().generated, 600'000u);
    EXPECT_GT(waits.counters().lost, 200'000u);
}

TEST_F(Session, AnotherFormatVersionIsRefused) {
    target.version = 9;
    EXPECT_EQ(told_of("hello calls end"), "frames_without_hello 2, sessions 0, not complete");
    EXPECT_EQ(counters.refused_version, 9);
}

TEST_F(Session, AnUnknownArchitectureIsRefused) {
    target.architecture = static_cast<protocol::Architecture>(2);
    EXPECT_EQ(told_of("hello calls end"), "frames_without_hello 2, sessions 0, not complete");
    EXPECT_EQ(refused_version_sentence(counters.refused_version),
              "the target's architecture is one that this nopscope does not know");
}

TEST_F(Session, AHelloWithAWrongLengthIsMalformed) {
    target.hello();
    Bytes payload(target.payload(), target.payload() + protocol::hello_head_bytes);
    target = {};
    payload.insert(payload.end(), {2, 200, 'b'});
    target.frame(Stream::hello, payload);
    EXPECT_EQ(told_of("calls |"),
              "malformed_frames 1, frames_without_hello 1, sessions 0, not complete");
}

TEST_F(Session, AGapIsFromTheRecordBeforeItToTheOneBehindIt) {
    take("hello 1( |");
    const std::uint64_t from = target.clock;
    EXPECT_EQ(told_of("1( x # 1( end"), "delivered 2, lost 1, gaps 1, lost_frames 1");
    ASSERT_EQ(sink.missing.size(), 1u);
    EXPECT_EQ(sink.missing[0].from, from);
    EXPECT_EQ(sink.missing[0].to, target.clock);
    EXPECT_EQ(sink.missing[0].lost, 1u);
}

TEST_F(Session, OverwrittenRecordsAreNotLost) {
    take("hello calls |");
    stats({.now = target.clock, .generated = 12, .delivered = 8, .overwritten = 4});
    for (int i = 0; i < 10; ++i) target.entry(1);
    take("x # calls |");
    stats({.now = target.clock, .generated = 26, .delivered = 22, .final = 1, .overwritten = 4});
    EXPECT_EQ(told_of(""), "delivered 16, overwritten 4, lost 6, gaps 1, lost_frames 1");
    ASSERT_EQ(sink.missing.size(), 1u);
    EXPECT_EQ(sink.missing[0].overwritten, 4u);
    EXPECT_EQ(sink.missing[0].lost, 6u);
}

TEST_F(Session, FilteredCallsAreGenerated) {
    take("hello calls |");
    stats({.now = target.clock, .generated = 13, .delivered = 8, .final = 1, .filtered = 5});
    EXPECT_EQ(told_of(""), "delivered 8, filtered 5");
}

// A session that continues after a warm reset: its sequence numbers jump, which is no loss.
class ResetSession : public Session {
protected:
    ResetSession() { target.groups_of_one = false; }
    void read() override {
        Session::read();
        EXPECT_TRUE(std::all_of(sink.records.begin(), sink.records.end(), [](const auto& of) {
            return of.second.kind() == Kind::call && of.second.site_low() >> 3 == site_of(of.first);
        })) << "a record is invented";
    }
};

class ResetCourse : public CourseOf<ResetSession> {};
TEST_P(ResetCourse, AsItWas) { expect_told(); }

constexpr Course reset_courses[] = {
    {"TheJumpIsNoLossInAnyStream", "hello some warm4096 hello some hello end",
     "delivered 240, recovered_sessions 1", 2},
    {"ASecondResetIsAnotherJump",
     "hello some warm4096 hello some warm4101 hello some warm1073741824 hello some end",
     "delivered 240, recovered_sessions 1"},
    {"TheRestMayBeAllThatIsHeard", "some unheard warm4096 hello some end",
     "delivered 60, lost 60, gaps 1, recovered_sessions 1"},
    {"FramesFromBeforeTheResetWaitForTheHelloToo", "some warm4096 hello some end",
     "delivered 120, recovered_sessions 1"},
    {"FramesLostBeforeTheResetAreCountedByRecords", "hello some frame lost warm4096 hello some end",
     "delivered 120, lost 20, gaps 1, recovered_sessions 1"},
    // The first frame was the key frame.
    {"FramesLostAfterTheResetAreLost",
     "hello some warm4096 hello frame lost frame text lost text end",
     "delivered 60, lost 40, gaps 2, lost_frames 2, undecoded_frames 1, recovered_sessions 1"},
    {"WithoutAnyHelloTheJumpIsALossAndTheKeyFrameIsLostToo",
     "hello some warm4096 hello lost frame lost some end",
     "delivered 60, lost 80, gaps 4, lost_frames 16379, undecoded_frames 3"},
    // The limit may be the next number by chance. Then there is no jump, but a new group begins.
    {"ANumberThatGoesOnIsAResetToo", "hello frame frame frame frame frame warm5 hello frame frame",
     "delivered 140, unfinished_sessions 1, recovered_sessions 1, generated_at_least 1, "
     "not complete"},
    {"AFrameThatComesTwiceCostsNothing", "hello frame twice frame twice frame twice end",
     "delivered 60, duplicate_frames 3"},
};
INSTANTIATE_TEST_SUITE_P(, ResetCourse, testing::ValuesIn(reset_courses), name_of_course);

// The first hello after the reset is lost. Until the next one arrives, the jump looks like a loss.
TEST_F(ResetSession, ALateHelloTakesTheJumpBack) {
    target.cores = 2;
    take("hello some warm4096 hello lost some text lost text");
    EXPECT_GT(counted().lost_frames, 4000u);
    EXPECT_EQ(told_of("hello end"), "delivered 240, gaps 2, lost_frames 2, recovered_sessions 1");
}

// Older targets lack this field: the boot after the reset uses the same numbers again. The old
// model does not decode such frames, also if the hello is lost.
class OldTarget : public ResetSession,
                  public testing::WithParamInterface<std::tuple<unsigned, const char*>> {};
TEST_P(OldTarget, UsesNumbersAgain) {
    const auto [lag, hello] = GetParam();
    const std::string six = " frame frame frame frame frame frame ";
    take("hello" + six);
    target.warm_reset(6 - lag, false);
    take(hello + six + "end");
    read();
    EXPECT_EQ(counters.duplicate_frames, lag);
    EXPECT_EQ(counters.delivered, 120u);
    EXPECT_EQ(counters.lost, 120u);
    EXPECT_EQ(counters.undecoded_frames, 6 - lag);
}
INSTANTIATE_TEST_SUITE_P(, OldTarget,
                         testing::Combine(testing::Values(1u, 2u, 5u),
                                          testing::Values("hello", "")));

}  // namespace nopscope::host::test::session_test
