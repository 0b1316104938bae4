// SPDX-License-Identifier: Apache-2.0
// What a report's head says: about the target, and of losses.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::report_head_test {

class HeadTest : public ReportTest {
protected:
    HeadTest() { target.state.has_state = true; }
    void says(std::uint64_t mode, std::uint64_t recorders, std::uint64_t since) {
        target.state.mode = mode;
        target.state.recorders = recorders;
        target.state.since = since;
        target.stats(false);
    }
    // The recording lacks the target's final stats.
    void report() {
        const Symbols names = symbols();
        profile.read(target.bytes);
        made = or_throw(make_report(profile, profile.counters(), &names));
    }
    std::string lines() {
        std::string all;
        for (const HeadLine& line : head_lines(made))
            all += fmt::format("{}: {}\n", line.name, line.text);
        return all;
    }
};

TEST_F(HeadTest, LeavesOutTheTimeBeforeTheFirstRecorderAndAfterTheLast) {
    play("hello 1( 5:)");
    const std::uint64_t first = target.clock - 5;
    says(1, 0, first + 10);
    says(1, 2, first + 1'000);
    play("1( 5000000:)");
    says(1, 0, first + 4'000'000);
    report();
    EXPECT_EQ(mode_text(made), "graph, lossless");
    EXPECT_EQ(json::parse(json_report(made))["target"]["in_force"].size(), 3u);
}

TEST_F(HeadTest, SaysWhichRecorderAndModeWereInForceWhen) {
    target.hello();
    says(0, 0, 10);  // before the first record
    says(1, 2, 900);
    play("1( 5:)");
    const std::uint64_t first = target.clock - 5;
    play("1( 5000000:)");
    says(3, 6, first + 1'200'000);
    says(3, 6, first + 1'200'000);
    target.state.stopped_at = first + 4'000'000;
    target.stats(false);
    report();
    EXPECT_EQ(
        mode_text(made),
        "graph, lossless until 1.20 ms; then graph and profile, adaptive; stopped at 4.00 ms");
    EXPECT_THAT(text_report(made), HasSubstr(mode_text(made)));
    EXPECT_EQ(lines(), "");
    const json head = json::parse(json_report(made))["target"];
    const json& modes = head["in_force"];
    EXPECT_EQ(json({modes.size(), modes[1]["from_ns"], head["stopped_ns"]}),
              json({2, 1'200'000, 4'000'000}));
    EXPECT_EQ(head["profile_read_ns"], nullptr);
}

TEST_F(HeadTest, SaysWhatIsMissing) {
    target.state.recursions = 1234;
    target.state.profile = 1;
    target.refused_sites = {true, 30, 0, 2};
    play("hello 1() stats");
    report();
    EXPECT_EQ(
        lines(),
        "refused: 32 of 100 functions with a patch site cannot be traced: 30 not 8-byte aligned, "
        "2 not the words of a patch site\n"
        "profile read: never: calls that the target has only counted are missing\n"
        "left out: 1,234 callbacks and captures, which came from inside another one\n");
}

TEST_F(HeadTest, FunctionsThatWereMovedAndNotReadSinceAreOnTheTargetOnly) {
    target.state.profile = 2;
    target.hello();
    target.ret(target.entry(1), 100 << 16);
    target.moved(3, {{2 * 8, true, 10 << 16}});
    target.moved(3, {{3 * 8, true, 50 << 16}});
    protocol::ProfileWriter out(target.payload());
    target.frame(Stream::profile, 0, out.finish({1, 0, true, 40 << 16}));
    target.stats(false);
    report();
    EXPECT_THAT(lines(), AllOf(HasSubstr("profile read: last at "),
                               HasSubstr("on the target only: calls, since they were moved to the "
                                         "profile, of f3\n")));
}

// How much is missing, which times are doubtful, and what helps.
class LossTest : public test::StreamReport {
protected:
    bool doubtful(std::uint32_t site) const { return is_doubtful(row(made, site)); }
};

TEST_F(LossTest, FunctionsThatWereOpenWhileRecordsWereDroppedAreMarked) {
    // f4 may have called dropped functions.
    play("hello 1( 100:3( 100:) m0 stats 2( drop50 100:4( 100:) ) stats 100:5( 100:) )");
    report();
    for (const std::uint32_t open : {1u, 2u, 4u}) {
        EXPECT_EQ(row(made, open).dropped, 50u) << open;
        EXPECT_TRUE(doubtful(open)) << open;
    }
    for (const std::uint32_t closed : {3u, 5u}) EXPECT_FALSE(doubtful(closed)) << closed;
}

TEST_F(LossTest, DropsOfAnotherCoreMakeNoCallDoubtful) {
    target.cores = 2;
    play("hello 1( 2(@1");
    target.drop(7, 1);
    play(")1 )2");
    report();
    EXPECT_FALSE(doubtful(1));
    EXPECT_TRUE(doubtful(2));
}

TEST_F(LossTest, TheLastSessionsCallsAreNotOpenInThisOne) {
    play("hello 1() end reset");
    target.clock = 1;
    play("hello drop3 2()");
    report();
    EXPECT_FALSE(doubtful(1));
    EXPECT_TRUE(doubtful(2));
}

// Stream mode drops most records, and one function has nearly all of the time.
TEST_F(LossTest, TheSecondLineSaysHowMuchIsMissingAndWhatHelps) {
    play("hello 1( 2() 2() 2() 2() drop90 100000:)");
    Report result = report();
    const std::string text = text_report(result);
    const std::string behind = text.substr(text.find('\n') + 1);
    const std::string second = behind.substr(0, behind.find('\n'));
    EXPECT_THAT(second, StartsWith("missing: 90.0 % of 100 records (90 dropped by the target); "
                                   "self times marked ~"));
    for (const char* option :
         {"--mode adaptive", "--trace", "--recorder profile", "--mode lossless"})
        EXPECT_THAT(second, HasSubstr(option));
    EXPECT_THAT(text, HasSubstr("~10"));  // 100 us
    const auto json = nlohmann::json::parse(json_report(result));
    EXPECT_EQ(json["loss"]["records"], 100);
    EXPECT_EQ(json["loss"]["dropped"], 90);
    EXPECT_NEAR(json["loss"]["share"].get<double>(), 0.9, 1e-9);
    EXPECT_EQ(json["functions"][0]["doubtful"], true);
    result.lossless = true;
    EXPECT_THAT(loss_line(result), Not(HasSubstr("lossless")));
}

TEST_F(LossTest, ACompleteRecordingSaysNothingOfIt) {
    play("hello 1()");
    const Report result = report();
    EXPECT_EQ(loss_line(result), "");
    EXPECT_THAT(text_report(result), Not(HasSubstr("missing")));
    EXPECT_FALSE(is_doubtful(row(result, 1)));
}

}  // namespace nopscope::host::test::report_head_test
