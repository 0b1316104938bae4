// SPDX-License-Identifier: Apache-2.0
// Adaptive mode: a function's calls are in the trace, in the profile, or in both.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::adaptive_test {

class AdaptiveTest : public test::StreamReport {
protected:
    AdaptiveTest() { target.hello(); }
    // The profile has this many calls of this site, each `ticks` long.
    void profiled(std::uint32_t site, std::uint64_t calls, std::uint64_t ticks) {
        target.flush();
        protocol::ProfileWriter out(target.payload());
        const auto bin = static_cast<unsigned>(64 - __builtin_clzll(ticks));
        out.put(8 * site, calls * ticks, static_cast<std::int64_t>(calls * ticks), ticks, ticks,
                [&](unsigned n) { return n == bin ? calls : 0; });
        target.frame(protocol::Stream::profile, 0, out.finish({1, 0, true, target.clock}));
    }
    // The trace also counts sites by 8: a record's payload is the offset / 8.
    void traced(std::uint32_t site, std::uint64_t ticks) { target.ret(target.entry(site), ticks); }
    // Of a site: calls, those in the profile, the least and the largest time, and the total.
    std::vector<std::uint64_t> told(std::uint32_t site) {
        const FunctionRow& of = row(made, site);
        return {of.calls, of.profiled, of.call->min_ns, of.call->max_ns, of.total_ns};
    }
};

TEST_F(AdaptiveTest, CallsAreTheTracesAndTheProfilesTogether) {
    traced(1, 100);
    traced(2, 30);
    target.moved(0, {});
    profiled(2, 5, 70);
    profiled(3, 7, 20);
    target.skip_sequence(protocol::Stream::moved);  // costs only a gap
    ASSERT_TRUE(report().adaptive);
    EXPECT_THAT(told(1), ElementsAre(1, 0, 100, 100, 100));
    EXPECT_THAT(told(2), ElementsAre(6, 5, 30, 70, 380));
    EXPECT_THAT(told(3), ElementsAre(7, 7, 20, 20, 140)) << "it is only in the profile";
    EXPECT_NEAR(row(made, 1).share + row(made, 2).share + row(made, 3).share, 1, 1e-9);
    const std::string text = text_report(made);
    EXPECT_THAT(text, HasSubstr("[5 in the profile]"));
    EXPECT_THAT(text, Not(HasSubstr("p99")));
    EXPECT_THAT(text, HasSubstr("adaptive\n"));
}

TEST_F(AdaptiveTest, EachCallLosesItsOwnRecordersOverhead) {
    target.calibrated = true;
    target.overheads[1] = {3 * 256, 0};
    target.overheads[2] = {4 * 256, 0};
    target.bytes.clear();
    target.hello();
    traced(2, 30);
    profiled(2, 5, 70);
    profiled(3, 1, 20);
    target.moved(0, {});
    const Report result = report();
    EXPECT_EQ(row(result, 2).corrected.self_ns, 30 - 3 + 5 * (70 - 4u));
    EXPECT_EQ(row(result, 3).corrected.total_ns, 20 - 4u);
    EXPECT_EQ(result.subtracted_ns, 3 + 6 * 4u);
    EXPECT_NEAR(row(result, 3).share, 16.0 / (16 + 27 + 5 * 66), 1e-9);
}

TEST_F(AdaptiveTest, OtherRecordingsAreAsTheyWere) {
    traced(2, 30);
    profiled(2, 5, 70);
    const Report result = report();
    EXPECT_FALSE(result.adaptive);
    EXPECT_EQ(row(result, 2).calls, 1u);
    EXPECT_THAT(text_report(result), HasSubstr("p99"));
    EXPECT_FALSE(json::parse(json_report(result)).contains("adaptive"));
}

TEST_F(AdaptiveTest, MovesAreToldOnceAndInOrder) {
    constexpr std::uint64_t unit = std::uint64_t{1} << protocol::moved_clock_shift;
    target.clock = 10 * unit;
    traced(1, 100);
    for (int n = 0; n < 2; ++n) target.moved(2, {{16, true, 20 * unit}, {8, true, 15 * unit}});
    target.moved(3, {{16, false, 90 * unit}, {8, true, 15 * unit}});
    const Report result = report();
    const auto adaptive = json::parse(json_report(result))["adaptive"];
    EXPECT_EQ(adaptive["moves"], 3);
    json moved;
    for (const json& move : adaptive["moved"])
        moved.push_back({move["session"], move["address"], move["to"]});
    EXPECT_EQ(moved, json({{0, "0x40080008", "profile"},
                           {0, "0x40080010", "profile"},
                           {0, "0x40080010", "trace"}}));
    EXPECT_NEAR(static_cast<double>(result.moved[2].at_ns), 80.0 * unit, unit);
}

TEST_F(AdaptiveTest, AMoveThatMakesNoSenseIsCounted) {
    traced(1, 100);
    target.moved(1, {{16, true, 0}});
    target.payload()[0] = 1;
    target.payload()[1] = 0x80;  // the varint of the site has no end
    target.frame(protocol::Stream::moved, 0, 2);
    const Report result = report();
    EXPECT_EQ(profile.counters().stream.malformed_frames, 1u);
    EXPECT_EQ(result.moved.size(), 1u);
}

}  // namespace nopscope::host::test::adaptive_test
