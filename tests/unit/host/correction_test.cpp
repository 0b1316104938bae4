// SPDX-License-Identifier: Apache-2.0
// Times with the recording overhead removed, by function and by call path.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::correction_test {

constexpr std::int32_t unit = protocol::overhead_unit;

class CorrectionTest : public test::PlayedReport {
protected:
    CorrectionTest() {
        target.calibrated = true;
        target.overheads = {{{0, 2 * unit}, {3 * unit, 5 * unit}, {4 * unit, 9 * unit}}};
    }
    // The report of a stream that begins here.
    const Report& played(const std::string& records, const Symbols* symbols = nullptr) {
        target.hello();
        play(records);
        return report(symbols);
    }
    using Times = std::vector<std::uint64_t>;
    // Of a site: self, total, and both corrected.
    Times times(std::uint32_t site) {
        const FunctionRow& of = row(made, site);
        return {of.self_ns, of.total_ns, of.corrected.self_ns, of.corrected.total_ns};
    }
    std::uint64_t self(std::uint32_t site) { return row(made, site).corrected.self_ns; }
    std::uint64_t total(std::uint32_t site) { return row(made, site).corrected.total_ns; }
};

TEST_F(CorrectionTest, ACallThatIsToldWholeLosesTheDurationRecordersShare) {
    target.overheads[protocol::overhead_index(protocol::Recorder::duration)] = {7 * unit,
                                                                                11 * unit};
    target.hello();
    play("1(");
    target.clock += 60;
    play("duration2=3,20 duration1=2,50 30:)");
    report();
    EXPECT_EQ(self(3), times(3)[0] - 7);
    EXPECT_EQ(times(2), (Times{30, 50, 30 - 7 - 11, 50 - 7 - (7 + 11)}));
    EXPECT_EQ(self(1), times(1)[0] - 3 - 11);
}

// An emulator's clock may measure almost nothing in calibration. The correction must not add time.
TEST_F(CorrectionTest, NoTimeGrowsByACallThatLongjmpLeft) {
    target.overheads[protocol::overhead_index(protocol::Recorder::graph)] = {0, 400 * unit};
    played("1( 1000:2( 1000:)! 1000:)");
    EXPECT_EQ(self(2), times(2)[0]);
}

TEST_F(CorrectionTest, ACallLosesItsInsideAndItsCallersTheOutside) {
    const Report& result = played("1( 20:2( 30:3( 40:) 50:) 20:2( 30:3( 40:) 50:) 60:)");
    EXPECT_EQ(times(3), (Times{80, 80, 80 - 2 * 3, 80 - 2 * 3}));
    EXPECT_EQ(times(2), (Times{160, 240, 160 - 2 * (3 + 5), 240 - 2 * (3 + 5 + 3)}));
    EXPECT_EQ(times(1), (Times{100, 340, 100 - 3 - 2 * 5, 340 - 3 - 4 * 8}));
    EXPECT_EQ(total(1), self(1) + self(2) + self(3));
    EXPECT_EQ(result.subtracted_ns, 3u + 4 * 8);
    EXPECT_NEAR(row(result, 1).share + row(result, 2).share + row(result, 3).share, 1, 1e-9);
    EXPECT_NEAR(row(result, 3).share, 74.0 / total(1), 1e-9);
}

class CorrectionOfPaths : public CorrectionTest {
protected:
    CorrectionOfPaths() {
        target.overheads[1] = {21 * unit, 31 * unit};  // for 52 instructions, one tick each
        symbols.tails.resize(3);
    }
    const Report& played(const std::string& records) {
        return CorrectionTest::played(records, &symbols);
    }

    Symbols symbols = test::symbols_of(target, {"f", "f", "f"});  // numbers 0 to 2 of sites 1 to 3
};

TEST_F(CorrectionOfPaths, AFunctionWithoutALandingPadIsThatMuchShorter) {
    target.landing_pad = unit;
    symbols.sites[1].landing_pad = false;
    played("1( 50:2( 50:) 50:2( 50:) 50:2( 50:) 50:2( 50:) 50:)");
    EXPECT_EQ(self(2), 200u - 4 * (21 + 1));
    EXPECT_EQ(self(1), 250u - 21 - 4 * (31 - 1));
    EXPECT_EQ(total(1), 450u - 21 - 4 * 52);
}

TEST_F(CorrectionOfPaths, ATailCallTakesItsCallerLonger) {
    symbols.tails[0].direct = {{1, Tail::always}};  // f1's call of f2
    symbols.tails[2].direct = {{1, Tail::never}};   // f3's
    played("100:1( 100:2( 100:) 100:) 100:3( 100:2( 100:) 100:)");
    const std::uint64_t taken = 21 + 31;
    EXPECT_EQ(self(1), 200 - taken - 14);
    EXPECT_EQ(total(1), 300 - taken - 14 - 21);
    EXPECT_EQ(self(3), 200 - taken);
    EXPECT_EQ(total(3), 300 - taken - 21);
    EXPECT_EQ(self(2), 2 * 79u);
}

// f1 jumps to f2, and that to another. The call of f2 ends at its jump.
struct Chain {
    unsigned last;        // what f2 jumps to
    Tail of_f2, of_last;  // what f1's code says
};
class CorrectionOfAChain : public CorrectionOfPaths, public testing::WithParamInterface<Chain> {};
INSTANTIATE_TEST_SUITE_P(
    Chains, CorrectionOfAChain,
    testing::Values(Chain{2, Tail::always, Tail::always}, Chain{3, Tail::always, Tail::never},
                    Chain{3, Tail::always, Tail::always}, Chain{3, Tail::maybe, Tail::never},
                    Chain{3, Tail::always, Tail::maybe}, Chain{3, Tail::maybe, Tail::maybe}));

TEST_P(CorrectionOfAChain, OnlyTheFirstTailCallTakesItsCallerLonger) {
    const auto [last, of_f2, of_last] = GetParam();
    symbols.tails[0].direct = {{1, of_f2}};
    if (last == 3) symbols.tails[0].direct.push_back({2, of_last});
    played("100:1( 100:2( 100:t(15 0:t) 0:) 0:t( 300:t) 100:" + std::to_string(last) +
           "( 100:) 0:)");
    EXPECT_EQ(self(1), 100u - 21 - 31 - 14);
    EXPECT_EQ(self(2) + (last == 3 ? self(3) : 0), 200u - 2 * 21 - 15);
    EXPECT_EQ(total(1), self(1) + 200u - 2 * 21 - 15);
}

// f2's jump took an instruction less than its record says, and f1's entry did not.
TEST_F(CorrectionOfPaths, AJumpToAFunctionWithoutALandingPadIsThatMuchShorter) {
    target.landing_pad = unit;
    symbols.sites[2].landing_pad = false;
    profile.know_code(code_of_calls([this] { return &symbols; }));
    played("100:1( 100:2( 100:t(15 0:t) 0:) 0:t( 300:t) 100:3( 100:) 0:)");
    EXPECT_EQ(self(1), 100u - 21 - 31);
    EXPECT_EQ(self(2), 100u - 21 - 14);
    EXPECT_EQ(self(3), 100u - 21 - 1);
}

TEST_F(CorrectionOfPaths, WhereTheCodeDoesNotSayTheEndsDo) {
    symbols.tails[0].direct = {{1, Tail::maybe}};
    played(
        "100:1( 100:2( 100:) 21:) 100:1( 100:2( 100:) 22:) 100:1( 100:2( 100:) 23:) "
        "100:1( 100:2( 100:) 100:) 100:1( 100:3( 100:) 21:)");
    EXPECT_EQ(self(1), 5 * 100u + (21 + 22 + 23 + 100 + 21) - 5 * (21 + 31) - 2 * 14);
}

// Two ends of one RET are 22 instructions apart: 10 calls show one tick between them, 6 show two.
TEST_F(CorrectionOfPaths, AClockThatIsTooSlowToTellCountsThoseThatShowIt) {
    symbols.tails[0].direct = {{1, Tail::maybe}, {2, Tail::always}};
    target.clock_hz = 62'500'000;
    target.overheads[1] = {21 * unit / 16, 31 * unit / 16};
    std::string records;
    for (int n = 0; n < 10; ++n) records += "100:1( 100:2( 100:) 1:) ";
    for (int n = 0; n < 6; ++n) records += "100:1( 100:2( 100:) 2:) ";
    for (int n = 0; n < 100; ++n) records += "100:1( 100:2( 100:) 3:) ";  // not tail calls
    played(records + "100:1( 100:3( 100:) 9:)");
    const std::uint64_t raw = 16 * (117 * 100 + 10 + 6 * 2 + 100 * 3 + 9);
    EXPECT_NEAR(self(1), raw - 117 * (21 + 31) - (16 + 1) * 14, 3);
}

TEST_F(CorrectionOfPaths, ACallThatLongjmpLeavesHadNoHook) {
    played("100:1( 100:2( 100:)! 50:3( 100:) 100:)");
    EXPECT_EQ(self(2), 100u - (21 - 11));
    EXPECT_EQ(self(1), 200u - 21 - (31 - 10) - 31);
    EXPECT_EQ(self(3), 79u);
}

TEST_F(CorrectionTest, CallRecordsCostTheirCallerAndHaveNoTime) {
    played("1( 4. 4. 4. 4. 4. 4. 4. 4. 4. 4. )");
    EXPECT_EQ(times(1)[0], 110u);
    EXPECT_EQ(self(1), 110u - 3 - 10 * 2);
    EXPECT_EQ(self(4), 0u);
}

TEST_F(CorrectionTest, NeverBelowZeroAndInFractionsOfTicks) {
    target.overheads[1] = {unit / 2 + 1, unit / 4};
    target.clock_hz = 62'500'000;
    played("1:1( 0:) 1:1( 0:) 1:1( 0:) 1:1( 0:) 1:2( 1:) 1:2( 1:) 1:2( 1:) 1:2( 1:)");
    EXPECT_EQ(self(1), 0u);
    EXPECT_EQ(self(2), 32u);  // 64 ns less 4 x 129/256 ticks of 16 ns
}

TEST_F(CorrectionTest, TheTextSaysWhatWasTakenOff) {
    const Report result = played("1( 100:2( 100:) 100:)");
    EXPECT_THAT(text_report(result), HasSubstr("overhead removed: 3.0 ns from each traced call and "
                                               "5.0 ns from its caller (measured at boot)"));
    Report raw = result;
    raw.raw = true;
    EXPECT_THAT(text_report(raw), HasSubstr("overhead left in the times: 3.0 ns"));
    EXPECT_THAT(text_graph(result, profile, {}), HasSubstr("192 ns"));
    EXPECT_THAT(text_graph(raw, profile, {}), HasSubstr("200 ns"));
    EXPECT_THAT(json_report(result), HasSubstr("\"corrected_self_ns\": 97,"));
    EXPECT_THAT(json_graph(result, profile, {}), HasSubstr("\"corrected_self_ns\": 97"));
}

TEST_F(CorrectionTest, WithoutAMeasureTimesAreAsRecorded) {
    target.calibrated = false;
    const Report& result = played("100:2( 100:)");
    EXPECT_EQ(self(2), 100u);
    EXPECT_THAT(text_report(result), HasSubstr("did not measure"));
}

TEST_F(CorrectionTest, TheNextBootsMeasurementCorrectsRecordsFromBeforeAWarmReset) {
    target.calibrated = false;
    target.hello();
    play("100:2( 100:)");
    target.stats(true);
    target.reset();
    target.calibrated = true;
    played("100:3( 100:)");
    ASSERT_EQ(profile.counters().stream.sessions, 2u);
    for (const std::uint32_t site : {2, 3}) EXPECT_EQ(self(site), 97u);
}

TEST_F(CorrectionTest, TheRateOfCyclesMayDifferAfterAReset) {
    for (const auto source : {protocol::Clock::cycles, protocol::Clock::timer}) {
        test::LineProfile both;
        TargetStream stream;
        stream.clock_source = source;
        for (int session = 0; session < 2; ++session, ++stream.clock_hz) {
            stream.hello();
            test::Play{stream}("100:2( 100:)");
            stream.finish();
            stream.reset();
        }
        both.read(stream.bytes);
        const StreamCounters of = both.counters().stream;
        const bool cycles = source == protocol::Clock::cycles;
        EXPECT_EQ(of.sessions, cycles ? 2u : 1u);
        EXPECT_EQ(of.other_image_sessions, cycles ? 0u : 1u);
    }
}

TEST_F(CorrectionTest, HostileClocksAndOverheadsDoNoHarm) {
    target.overheads[1] = {INT32_MIN, INT32_MAX};
    target.clock_hz = 1;
    const Report& result = played("1( 1152921504606846976:2( 4611686018427387904:) 1:)");
    EXPECT_FALSE(json_report(result).empty());
    EXPECT_FALSE(text_graph(result, profile, {}).empty());
}

}  // namespace nopscope::host::test::correction_test
