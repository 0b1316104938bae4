// SPDX-License-Identifier: Apache-2.0
// What a report's head says about the target.
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
        made = make_report(profile, profile.counters(), &names);
    }
    std::string lines() {
        std::string all;
        for (const HeadLine& line : head_lines(made))
            all += fmt::format("{}: {}\n", line.name, line.text);
        return all;
    }
};

TEST_F(HeadTest, LeavesOutTheTimeBeforeTheFirstRecorderAndAfterTheLast) {
    target.hello();
    target.ret(target.entry(1), 5);
    const std::uint64_t first = target.clock - 5;
    says(1, 0, first + 10);
    says(1, 2, first + 1'000);
    target.ret(target.entry(1), 5'000'000);
    says(1, 0, first + 4'000'000);
    report();
    EXPECT_EQ(mode_text(made), "graph, lossless");
    EXPECT_EQ(json::parse(json_report(made))["target"]["in_force"].size(), 3u);
}

TEST_F(HeadTest, SaysWhichRecorderAndModeWereInForceWhen) {
    target.hello();
    says(0, 0, 10);  // before the first record
    says(1, 2, 900);
    target.ret(target.entry(1), 5);
    const std::uint64_t first = target.clock - 5;
    target.ret(target.entry(1), 5'000'000);
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
    EXPECT_EQ(head["in_force"].size(), 2u);
    EXPECT_EQ(head["in_force"][1]["from_ns"], 1'200'000);
    EXPECT_EQ(head["stopped_ns"], 4'000'000);
    EXPECT_EQ(head["profile_read_ns"], nullptr);
}

TEST_F(HeadTest, SaysWhatIsMissing) {
    target.state.recursions = 1234;
    target.state.profile = 1;
    target.refused_sites = {true, 30, 0, 2};
    target.hello();
    target.ret(target.entry(1), 5);
    target.stats(false);
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

}  // namespace nopscope::host::test::report_head_test
