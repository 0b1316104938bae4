// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::call_feed_test {

HelloInfo hello_of(std::uint64_t clock_hz = 1'000'000'000) {
    HelloInfo hello;
    hello.clock_hz = clock_hz;
    return hello;
}
const Symbols* none() { return nullptr; }

class CallFeedTest : public testing::Test {
protected:
    CallFeedTest() {
        target.clock = 0;
        symbols.code.push_back({TargetStream::text_base + 0x1000, 64, "plain", "b.c", 3});
        target.hello();
    }
    // Ends the recording. All that the sink is told, with commas.
    std::string told(std::optional<TimeAxis> axis = TimeAxis::wall) {
        target.finish();
        Events stream(checker, known(symbols), "x.nsc", axis);
        SessionReader reader(stream);
        reader.feed(target.bytes);
        if (stream.failure() != nullptr) throw *stream.failure();
        reader.finish();
        checker.finish();
        EXPECT_THAT(checker.wrong, IsEmpty());
        return joined(checker.told);
    }
    // One record of core `core`: a call of f1.
    static void call(Events& stream, unsigned core, std::uint64_t clock) {
        const StampedRecord record = stamped(Kind::call, 1, clock);
        stream.on_trace(core, {.first_index = 0, .records = {&record, 1}});
    }

    TargetStream target;
    Play<TargetStream> play{target};
    Symbols symbols = symbols_of(target, {"f1", "f2", "f3", "f4", "f5"});
    BalancedChecker checker;
};

struct Case {
    const char *name, *records;  // of a session, or of two with a / between them
    const char* told;
    TimeAxis axis = TimeAxis::wall;
    const char* lanes = nullptr;
};
class CallFeedOf : public CallFeedTest, public testing::WithParamInterface<Case> {};

TEST_P(CallFeedOf, Records) {
    const std::string records = GetParam().records;
    const std::size_t end = records.find('/');
    play(records.substr(0, end));
    if (end != records.npos) {
        target.finish();
        target.reset();
        target.clock = 0;
        target.hello();
        play(records.substr(end + 1));
    }
    EXPECT_EQ(told(GetParam().axis), GetParam().told);
    if (GetParam().lanes != nullptr) {
        EXPECT_EQ(joined(checker.lanes), GetParam().lanes);
    }
}
constexpr Case cases[] = {
    {"CallsInEachOther", "1( 2( 5:) 3. )", "0 +f1 10, 0 +f2 20, 0 -f2 25, 0 .f3 35, 0 -f1 45"},
    {"AReturnOfAnOuterCallEndsThoseInside", "1( 2( 3( )1!",
     "0 +f1 10, 0 +f2 20, 0 +f3 30, 0 -f3 40 unwound, 0 -f2 40 unwound, 0 -f1 40 unwound"},
    {"OpenCallsEndWithTheirSession", "1( 2.", "0 +f1 10, 0 .f2 20, 0 -f1 20 open"},
    {"TheTracerIsInTheStack", "1( 0:t( 50:t) ) 0:t( 50:t)",
     "0 +f1 10, 0 +(tracer) 10, 0 -(tracer) 60, 0 -f1 70, 0 +(tracer) 70, 0 -(tracer) 120"},
    // Call 3 is an interrupt's, during the tracer's work. Of call 4's time, 20 are the tracer's.
    {"TheClockStandsStillWhereTheTracersTimeIsCutOut",
     "1( 0:t( 50:t) 2( t( 3( 7:) t) ) duration1=4,50 )",
     "0 +f1 10, 0 +f2 20, 0 +f3 30, 0 -f3 37, 0 -f2 47, 0 =f4 27..57 depth 1, 0 -f1 67",
     TimeAxis::without_tracer},
    {"CallsThatALongjmpLeavesEndAndTheTracerContinues", "1( 2( 3( t( 0:)! 0:)! t) )",
     "0 +f1 10, 0 +f2 20, 0 +f3 30, 0 +(tracer) 40, 0 -(tracer) 40, 0 -f3 40 unwound, "
     "0 -f2 40 unwound, 0 +(tracer) 40, 0 -(tracer) 50, 0 -f1 60"},
    {"ATracerBracketWithoutAnEndDoesNotStayOpen", "1( t( t( t) t) t( )",
     "0 +f1 10, 0 +(tracer) 20, 0 -(tracer) 30, 0 +(tracer) 30, 0 -(tracer) 40, "
     "0 +(tracer) 60, 0 -(tracer) 70 unwound, 0 -f1 70"},
    {"InterruptsAreCalls", "1( i27( 2() i0( masked=5,7 ) ) )",
     "0 +f1 10, 0 +(interrupt 27) 20, 0 +f2 30, 0 -f2 40, 0 +(interrupt 0) 50, "
     "core 0 masked by f2 53..60, 0 -(interrupt 0) 70, 0 -(interrupt 27) 80, 0 -f1 90"},
    {"TimesWithInterruptsMaskedDoNotOverlap", "100:1. masked=5,60 masked=5,50",
     "0 .f1 100, core 0 masked by f2 50..110, core 0 masked by f2 110..120"},
    {"TimeOfACoreDoesNotGoBack", "100:1( -40:) 2.", "0 +f1 100, 0 -f1 100, 0 .f2 100"},
    {"AGapEndsEveryCallAndLaterReturnsMeanNothing", "1( 2( | 3( x 4( 5:) )1",
     "0 +f1 10, 0 +f2 20, core 0 lacks 1 0 0, 20..40, 0 -f2 20 gap, 0 -f1 20 gap, "
     "0 +f4 40, 0 -f4 45"},
    // The record of the last switch is missing.
    {"ContextsHaveTracksAndShowThatTheyDoNotRun", "1( c5 2( c0 )1 )2",
     "0 +f1 10, 0 +(other context) 20, 1 +f2 30, 1 +(other context) 40, "
     "0 -(other context) 40, 0 -f1 50, 1 -(other context) 60, 1 -f2 60",
     TimeAxis::wall,
     "core 0: 10 - -> 0, core 0: 20 0 -> 1, core 0: 40 1 -> 0, core 0: 60 0 -> 1, "
     "core 0: 60 1 -> -"},
    {"ASessionFollowsTheOneBeforeIt", "5000:1( 1000:) / 100:2( 50:)",
     "0 +f1 5000, 0 -f1 6000, 0 +f2 1006000, 0 -f2 1006050", TimeAxis::wall,
     "core 0: 5000 - -> 0, core 0: 6000 0 -> -, core 0: 1006000 - -> 0, core 0: 1006050 0 -> -"},
    {"ASessionBeginsInContext0", "c5 1( 20:) / 2.", "1 +f1 20, 1 -f1 40, 0 .f2 1000040",
     TimeAxis::wall,
     "core 0: 10 - -> 0, core 0: 10 0 -> 1, core 0: 40 1 -> -, core 0: 1000040 - -> 0, "
     "core 0: 1000040 0 -> -"},
};
INSTANTIATE_TEST_SUITE_P(, CallFeedOf, testing::ValuesIn(cases), name_of_course);

TEST_F(CallFeedTest, UnwindingIsTheTracersUntilTheNextCallOrReturn) {
    play("1( 2( 5:)!");
    target.extended(Extended::events, 0);  // data of the return, with its clock
    play("7:3( 5:)! m9 )");                // the marker hides the tracer's time
    EXPECT_EQ(told(),
              "0 +f1 10, 0 +f2 20, 0 -f2 25 unwound, 0 +(tracer) 25, 0 -(tracer) 32, "
              "0 +f3 32, 0 -f3 37 unwound, 0 mark 9 47, 0 -f1 57");
}

TEST_F(CallFeedTest, ACallsOwnTimeIsWithoutAllThatIsInside) {
    struct Kept final : EventSink {
        void on_function(std::uint32_t, const FunctionPlace&) override {}
        void leave(const Track&, const EndedCall& call) override { calls.push_back(call); }
        void finish() override {}
        std::vector<EndedCall> calls;
    } sink;
    play("1( 2( 5:3( 20:) 1:) 4:)");
    target.finish();
    Events events(sink, none, "x.nsc");
    read_line(target, events);
    std::vector<Nanoseconds> own;
    for (const EndedCall& call : sink.calls) own.push_back(call.self);
    ASSERT_THAT(own, ElementsAre(20, 6, 14));
    EXPECT_EQ(sink.calls[0].depth, 2u);
    EXPECT_EQ(sink.calls[0].parent, 2u);
}

TEST_F(CallFeedTest, TwoCoresHaveNoAxisWithoutTheTracersTime) {
    target.bytes.clear();
    target.cores = 2;
    target.hello();
    play("1()");
    target.ret(target.entry(1, 10, 1), 10, 1);
    const Error error = error_of([&] { told(TimeAxis::without_tracer); });
    EXPECT_EQ(error.code(), Exit::usage);
    EXPECT_STREQ(error.what(),
                 "--cut-tracer: x.nsc has several cores, which have no common axis without the "
                 "tracer's time");
}

TEST_F(CallFeedTest, EachSessionHasItsOwnAxis) {
    target.bytes.clear();
    for (const auto& [lossless, cores] : {std::pair{true, 1}, {false, 1}, {true, 2}}) {
        target.lossless = lossless;
        target.cores = static_cast<std::uint8_t>(cores);
        ++target.session;
        target.hello();
        play("1( 0:t( 50:t) )");
        target.finish();
    }
    told(std::nullopt);
    const auto has = [](const std::string& line) { return line.find("(tracer)") != line.npos; };
    const auto& lines = checker.told;
    EXPECT_EQ(std::count_if(lines.begin(), lines.begin() + 2, has), 0);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(), has), 4);
    EXPECT_THAT(checker.axes,
                ElementsAre(TimeAxis::without_tracer, TimeAxis::wall, TimeAxis::wall));
}

TEST_F(CallFeedTest, PairsOfClocksAreOnTheAxisOfTheStamps) {
    const StampedRecord record = stamped(Kind::entry, 1, 27);
    const auto two_sessions = [&](std::optional<TimeAxis> axis) {
        Events stream(checker, none, "x.nsc", axis);
        for (int n = 0; n < 2; ++n) {  // a reset, a millisecond later
            stream.on_session(hello_of(54'000'000));
            // A clock pair that comes before the first record waits for it.
            stream.on_clock_pair({.clock = 54, .utc_ns = 5'000, .error_ns = 70});
            stream.on_trace(0, {.records = {&record, 1}});
            stream.on_clock_pair({.clock = 81, .utc_ns = 5'500, .error_ns = 9, .exchanged = true});
            stream.on_session_end();
        }
    };
    two_sessions(TimeAxis::wall);
    EXPECT_EQ(joined(checker.told),
              "0 +0x8 500, 1000 is 5000 +- 70, 1500 is 5500 +- 9 exchanged, 0 -0x8 500 open, "
              "0 +0x8 1000500, 1001000 is 5000 +- 70, 1001500 is 5500 +- 9 exchanged, "
              "0 -0x8 1000500 open");
    checker.told.clear();
    two_sessions(TimeAxis::without_tracer);
    EXPECT_THAT(checker.told, Not(Contains(HasSubstr(" is "))));
}

TEST_F(CallFeedTest, CountedEventsAreOfTheCallThatEndedBefore) {
    const auto count = [this](std::uint64_t value) {
        target.with_data(Extended::events, protocol::events_argument(0x0f, 0x11),
                         {value, value + 1});
    };
    count(3);  // of no call
    play("1( 2()");
    count(5);
    play("3.");
    count(7);  // its return ended no call
    play(")");
    count(9);
    EXPECT_EQ(told(),
              "0 +f1 20, 0 +f2 30, 0 -f2 40, 0 f2 0xf: 5, 0 f2 0x11: 6, 0 .f3 60, 0 -f1 80, "
              "0 f1 0xf: 9, 0 f1 0x11: 10");
}

TEST_F(CallFeedTest, MarksCountersAndCapturedValues) {
    play("m77");
    target.counter(4, -5);
    target.counter(4, std::int64_t{1} << 62);
    target.arguments(1, 0b101, {3, -4});
    target.result(2, -1);
    play("duration2=3,15");
    EXPECT_EQ(told(),
              "0 mark 77 10, 0 counter 4 -5, 0 counter 4 4611686018427387904, 0 f1 x0 3, "
              "0 f1 x2 -4, 0 f2 result -1, 0 =f3 45..60 depth 2");
}

TEST_F(CallFeedTest, SamplesAreOfFunctionsWithAndWithoutSites) {
    const auto sample = [this](bool cut, const std::vector<std::int64_t>& offsets) {
        std::vector<std::uint64_t> data;
        for (const std::int64_t bytes : offsets)
            data.push_back(static_cast<std::uint64_t>(bytes / 4) & protocol::data_mask);
        const auto count = static_cast<unsigned>(data.size());
        target.with_data(Extended::sample, protocol::sample_argument(count, cut, false), data);
    };
    sample(false, {0x1008, 8 * 2 + 4, 8 * 2});
    sample(true, {0x1008, 0x1010});
    sample(false, {-400});
    // A return address at the first instruction of f2 belongs to a call at the end of f1.
    EXPECT_EQ(told(), "0 sample f1 f2 plain, 0 sample plain, 0 sample 0x4007fe70");
}

TEST_F(CallFeedTest, AnotherImageIsRefusedWithTheFilesName) {
    symbols.site_table_crc ^= 1;
    play("1.");
    EXPECT_THAT(error_of([&] { told(); }).what(), testing::StartsWith("x.nsc: "));
}

TEST_F(CallFeedTest, MissingPartsLieBetweenTheSessionsFirstRecordAndItsLast) {
    Events stream(checker, known(symbols), "x");
    HelloInfo hello = hello_of();
    hello.text_base = TargetStream::text_base;
    hello.site_table_crc = symbols.site_table_crc;
    hello.build_id = symbols.build_id;
    for (const std::uint64_t begin : {1000, 5000000}) {
        stream.on_session(hello);
        stream.on_missing(
            0, {.from = 7, .to = begin + 10, .dropped = 3});  // since the target's last stats
        call(stream, 0, begin);
        stream.on_missing(1, {.from = begin + 20, .to = begin + 900, .lost = 4});
        call(stream, 1, begin + 30);
        stream.on_session_end();
    }
    EXPECT_EQ(joined(checker.told),
              "0 .f1 1000, core 0 lacks 0 0 3, 1000..1010, 1 .f1 1030, "
              "core 1 lacks 4 0 0, 1020..1030, 0 .f1 5000000, core 0 lacks 0 0 3, "
              "5000000..5000010, 1 .f1 5000030, core 1 lacks 4 0 0, 5000020..5000030");
    EXPECT_THAT(checker.wrong, IsEmpty());
}

TEST_F(CallFeedTest, ASessionWithoutRecordsHasNoOrigin) {
    Events stream(checker, none, "x");
    const HelloInfo hello = hello_of();
    stream.on_session(hello);
    stream.on_session_end();
    for (const std::uint64_t clock : {5'000, 9'000'000}) {
        stream.on_session(hello);
        call(stream, 0, clock);
        stream.on_session_end();
    }
    EXPECT_THAT(checker.origins, ElementsAre(5'000));
}

// Random records: the output stays balanced, and the stream ends.
TEST_F(CallFeedTest, AnyRecordsStayBalanced) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937_64 random(seed);
        BalancedChecker random_checker;
        random_checker.quiet = true;
        Events stream(random_checker, none, "x");
        const std::uint64_t rates[] = {1, 54'000'000, 1'000'000'000, ~std::uint64_t{0}};
        std::uint64_t index = 0;
        for (unsigned batches = 0; batches < 40; ++batches) {
            if (batches % 20 == 0) stream.on_session(hello_of(rates[seed % 4]));
            std::vector<StampedRecord> records;
            std::uint64_t clock = seed % 3 == 0 ? random() : random() % 1000;
            for (unsigned i = 0; i < 100; ++i) {
                const auto kind = static_cast<Kind>(random() % 4);
                std::uint64_t payload = random() & ((1u << protocol::payload_bits) - 1);
                if (kind == Kind::entry) payload %= 16;
                if (kind == Kind::ret) payload = (index + i - random() % 30) << 1;
                if (kind == Kind::extended) payload &= 0x7f;
                clock += random() % 50;
                records.push_back(
                    stamped(kind, static_cast<std::uint32_t>(payload) & 0x1fff'ffff, clock));
            }
            if (random() % 4 == 0)
                stream.on_missing(random() % 3, {clock, clock + 5, random() % 2, 0, random() % 2});
            TraceBatch batch{.first_index = index, .records = records, .gap = random() % 5 == 0};
            batch.context = static_cast<std::uint32_t>(random() % 3);
            stream.on_trace(random() % 3, batch);
            index += records.size();
            if (batches % 20 == 19) stream.on_session_end();
        }
        random_checker.finish();
        ASSERT_THAT(random_checker.wrong, IsEmpty()) << "seed " << seed;
    }
}

TEST(TickTime, RoundsAndNeverOverflows) {
    TickTime time;
    time.begin_session(54'000'000, 0);
    constexpr std::uint64_t a_year = 54'000'000ull * 86400 * 365;
    for (const std::uint64_t clock : {0ull, 1ull, 53'999'999ull, 54'000'000ull, a_year + 17ull})
        EXPECT_EQ(time(clock), ticks_to_ns(clock, 54'000'000)) << clock;
    EXPECT_EQ(time(3), ticks_to_ns(3, 54'000'000));  // the same tick again
    for (const std::uint64_t hz : {1ull, 62'500'000ull, ~0ull}) {
        time.begin_session(hz, 0);
        EXPECT_LE(time(~std::uint64_t{0}), TickTime::end_of_time);
        EXPECT_LE(time(5), TickTime::end_of_time);
    }
}

}  // namespace nopscope::host::test::call_feed_test
