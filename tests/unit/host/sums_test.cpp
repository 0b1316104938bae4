// SPDX-License-Identifier: Apache-2.0
// The sums that docs/accuracy.md defines, on random traces with random constants.
#include "host-tools/figures/profile/paths.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::sums_test {

double number(auto value) { return static_cast<double>(value); }

class SumsOfATrace : public testing::TestWithParam<unsigned> {
protected:
    RandomTrace trace{GetParam()};
    const Profile& profile = trace.profile;
    const std::vector<CallTree::Node>& nodes = profile.tree().nodes();
    const Report report = trace.report(false);
};
INSTANTIATE_TEST_SUITE_P(Seeds, SumsOfATrace, testing::Range(0u, 60u));

TEST_P(SumsOfATrace, AFunctionsPathsAddUpToItsSelfAndItsOutermostOnesToItsTotal) {
    for (const bool raw : {true, false}) {
        const std::vector<Times>& times = raw ? report.raw_nodes : report.nodes;
        std::map<std::uint32_t, Times> sums;
        std::vector<std::uint64_t> below(nodes.size());
        for_each_path(nodes, report.by_number.size(), [&](std::uint32_t node, bool outermost) {
            sums[nodes[node].function].self_ns += times[node].self_ns;
            if (outermost) sums[nodes[node].function].total_ns += times[node].total_ns;
            below[nodes[node].parent] += times[node].total_ns;
        });
        for (const auto& [function, sum] : sums) {
            const FunctionRow& row = report.by_number[function];
            EXPECT_EQ(row.shown(raw).self_ns, sum.self_ns) << row.name;
            EXPECT_LE(row.shown(raw).self_ns, row.shown(raw).total_ns) << row.name;
            EXPECT_TRUE(trace.has_gaps() || row.shown(raw).total_ns == sum.total_ns) << row.name;
        }
        for (std::size_t node = CallTree::overflow + 1; node < nodes.size(); ++node) {
            const std::uint64_t parts = times[node].self_ns + below[node];
            EXPECT_GE(times[node].total_ns, parts);
            EXPECT_TRUE(trace.has_gaps() || times[node].total_ns == parts) << node;
        }
    }
}

TEST_P(SumsOfATrace, FormatsWithPathsShowTheReport) {
    for (const bool raw : {true, false}) {
        const Report report = trace.report(raw);
        const PathTree tree = path_tree({report, trace.profile, raw});
        std::map<std::string, std::uint64_t> own, shown;
        for (const FunctionRow& row : report.functions) own[row.name] += row.shown(raw).self_ns;
        for (std::size_t i = 1; i < tree.nodes.size(); ++i)
            shown[tree.functions[tree.nodes[i].function].name] += tree.nodes[i].self_ns;
        for (auto* const all : {&own, &shown})
            std::erase_if(*all, [](const auto& of) { return of.second == 0; });
        EXPECT_EQ(shown, own);
    }
}

TEST_P(SumsOfATrace, RawIsCorrectedPlusOverhead) {
    std::uint64_t raw = 0, corrected = 0;
    for (const FunctionRow& row : report.functions) {
        raw += row.self_ns;
        corrected += row.corrected.self_ns;
    }
    EXPECT_EQ(static_cast<std::int64_t>(raw - corrected), report.subtracted_ns);
    EXPECT_TRUE(trace.target.calibrated || report.subtracted_ns == 0);
}

// The sum of all paths is as exact as the clock, because paths below zero added nothing to it.
TEST_P(SumsOfATrace, AllRemovedOverheadIsWhatRecordingTook) {
    if (!trace.target.calibrated) return;
    const HelloInfo& hello = *profile.hello();
    const auto& graph = hello.overheads[protocol::overhead_index(protocol::Recorder::graph)];
    const auto& function = hello.overheads[protocol::overhead_index(protocol::Recorder::function)];
    const CallCosts costs(hello);
    const Handed handed = handed_of(hello);
    // No function pays the `outside` of a call that has no caller.
    double taken = 0;
    for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
        const CallTree::Node& node = nodes[i];
        const CallTree::Chain chain = profile.tree().chain(static_cast<std::uint32_t>(i));
        const double calls = number(node.calls - node.points), left = number(node.unwound);
        const double pad = report.no_landing_pad[node.function] ? hello.landing_pad : 0;
        taken += calls * (graph.inside + pad) - left * number(costs.hook_inside) +
                 number(costs.of_instructions(1)) * number(node.beside) +
                 number(chain.ticks) * protocol::overhead_unit;
        if (node.parent <= CallTree::overflow) continue;
        taken += (calls - number(chain.begun)) * (graph.outside - pad) +
                 (number(chain.begun) - number(chain.ended) - left) * number(costs.hook_outside) +
                 number(node.points) * (function.outside - pad);
        const double passed = number(node.handed) * number(handed.weight) / Handed::one +
                              number(chain.ended) - number(chain.begun);
        if (node.tail == Tail::always) taken += (calls - number(chain.begun)) * number(costs.tail);
        if (node.tail == Tail::maybe)
            taken += std::clamp(passed, 0.0, number(node.calls)) * number(costs.tail);
    }
    const double ns = taken * 1e9 / (protocol::overhead_unit * number(hello.clock_hz));
    EXPECT_NEAR(number(report.subtracted_ns) + number(report.below_zero_ns), ns,
                3 + 1e-3 * std::abs(ns));
}

TEST_P(SumsOfATrace, ARowsMinMeanAndMaxAreInOrderAndNotAboveItsTotal) {
    for (const FunctionRow& row : report.functions) {
        for (const bool raw : {true, false}) {
            const auto call = row.shown(raw).call;
            if (!call) continue;
            EXPECT_LE(call->min_ns, call->mean_ns) << row.name;
            EXPECT_LE(call->mean_ns, call->max_ns) << row.name;
            EXPECT_LE(call->max_ns, row.shown(raw).total_ns) << row.name;
        }
    }
}

// The same constants correct single calls and sums. If no path is below zero, the mean of the calls
// times their number is the total.
TEST_P(SumsOfATrace, TheMeanOfCallsIsTheirTotal) {
    if (trace.has_gaps() || !trace.is_slow()) return;
    std::map<std::uint32_t, double> totals[2];
    for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
        totals[0][nodes[i].function] += number(report.nodes[i].total_ns);
        totals[1][nodes[i].function] += number(report.raw_nodes[i].total_ns);
    }
    EXPECT_EQ(report.below_zero_ns, 0u);
    for (const bool raw : {false, true}) {
        for (const auto& [function, total] : totals[raw]) {
            const FunctionRow& row = report.by_number[function];
            const auto call = row.shown(raw).call;
            if (!call || row.timed != row.calls) continue;
            EXPECT_NEAR(number(call->mean_ns), total / number(row.timed), 2) << row.name;
        }
    }
}

constexpr std::int32_t unit = protocol::overhead_unit;

class Settled : public StreamReport {
protected:
    Settled() {
        target.calibrated = true;
        target.overheads[1] = {10 * unit, 0};
        target.hello();
    }
};

TEST_F(Settled, APathBelowZeroReducesItsCaller) {
    // The self time of 3 becomes 6 below zero, 30 above zero and 100 above zero.
    play("100:1( 50:3( 4:) 50:) 100:2( 50:3( 40:) 50:) 100:4( 50:3( 110:) 50:)");
    const Report result = report();
    EXPECT_EQ(row(result, 3).corrected.self_ns, 30u + 100);
    EXPECT_EQ(row(result, 1).corrected.self_ns, 100u - 10 - 6);
    EXPECT_EQ(row(result, 1).corrected.total_ns, 104u - 2 * 10);
    EXPECT_EQ(row(result, 2).corrected.total_ns, 140u - 2 * 10);
    EXPECT_EQ(result.subtracted_ns, 6 * 10);
    EXPECT_EQ(result.below_zero_ns, 0u);
}

TEST_F(Settled, ARestBelowZeroIsReportedSeparately) {
    play("50:3( 4:) 100:1( 1:3( 4:) 2:)");  // 6 below zero, likewise, and 7 below zero
    const Report result = report();
    for (const std::uint32_t site : {1u, 3u}) EXPECT_EQ(row(result, site).corrected.total_ns, 0u);
    EXPECT_EQ(result.subtracted_ns, 4 + 4 + 3);
    EXPECT_EQ(result.below_zero_ns, 6u + 6 + 7);
}

TEST_F(Settled, EachCallIsCorrectedByWhatItCalled) {
    play("100:1( 100:) 100:1( 5:2( 30:) 100:) 100:1( 5:2( 30:) 5:2( 30:) 100:)");
    const FunctionRow outer = row(report(), 1);
    EXPECT_EQ(std::tuple(outer.call->min_ns, outer.call->max_ns), std::tuple(100u, 170u));
    EXPECT_EQ(outer.corrected.call->min_ns, 100u - 10);
    EXPECT_EQ(outer.corrected.call->mean_ns, 135u - 10 - 10);
    EXPECT_EQ(outer.corrected.call->max_ns, 170u - 10 - 2 * 10);
}

// If a path's self time is above zero, it has paid for all paths below zero inside it. So its total
// is exact.
TEST_P(SumsOfATrace, TotalsAreExactAroundPathsBelowZero) {
    std::mt19937 random(7);
    std::vector<SignedFixedTicks> taken(nodes.size());
    for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
        taken[i] = SignedFixedTicks{nodes[i].self_ticks} * unit * (random() % 5) / 2;
    }
    const Sums raw = sum_up(profile, profile.times_by_group(), {});
    const Sums settled = sum_up(profile, profile.times_by_group(), taken);
    std::vector<double> inside(nodes.size());
    for (std::size_t i = nodes.size(); i-- > CallTree::overflow + 1;) {
        inside[i] += number(taken[i]) / unit * 1e9 / number(profile.hello()->clock_hz);
        inside[nodes[i].parent] += inside[i];
        const double recorded = number(raw.nodes[i].total_ns);
        if (settled.nodes[i].self_ns < 2) continue;
        EXPECT_NEAR(number(settled.nodes[i].total_ns), recorded - inside[i], 2 + 1e-9 * recorded);
    }
}

}  // namespace nopscope::host::test::sums_test
