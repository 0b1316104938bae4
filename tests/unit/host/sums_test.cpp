// SPDX-License-Identifier: Apache-2.0
// The sums that docs/accuracy.md defines, on random traces with random constants.
#include "host-tools/analysis/profile/paths.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::sums_test {

template <typename Check>
void for_each_trace(Check check) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        RandomTrace trace(seed);
        check(trace);
    }
}

TEST(Sums, AFunctionsPathsAddUpToItsSelfAndItsOutermostOnesToItsTotal) {
    for_each_trace([](const RandomTrace& trace) {
        const Report report = trace.report(false);
        const auto& nodes = trace.profile.tree().nodes();
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
                EXPECT_EQ(self_of(row, raw), sum.self_ns) << row.name;
                EXPECT_LE(self_of(row, raw), total_of(row, raw)) << row.name;
                if (!trace.has_gaps()) {
                    EXPECT_EQ(total_of(row, raw), sum.total_ns) << row.name;
                }
            }
            for (std::size_t node = CallTree::overflow + 1; node < nodes.size(); ++node) {
                if (trace.has_gaps()) {
                    EXPECT_GE(times[node].total_ns, times[node].self_ns + below[node]);
                } else {
                    EXPECT_EQ(times[node].total_ns, times[node].self_ns + below[node]);
                }
            }
        }
    });
}

TEST(Sums, FormatsWithPathsShowTheReport) {
    for_each_trace([](const RandomTrace& trace) {
        for (const bool raw : {true, false}) {
            const Report report = trace.report(raw);
            const PathTree tree = path_tree({report, trace.profile, raw});
            std::map<std::string, std::uint64_t> own;
            std::uint64_t all = 0;
            for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
                own[tree.functions[tree.nodes[i].function].name] += tree.nodes[i].self_ns;
                all += tree.nodes[i].self_ns;
            }
            for (const FunctionRow& row : report.functions) {
                EXPECT_EQ(own[row.name], self_of(row, raw)) << row.name;
                all -= self_of(row, raw);
            }
            EXPECT_EQ(all, 0u);
        }
    });
}

TEST(Sums, RawIsCorrectedPlusOverhead) {
    for_each_trace([](const RandomTrace& trace) {
        const Report report = trace.report(false);
        std::uint64_t raw = 0, corrected = 0;
        for (const FunctionRow& row : report.functions) {
            raw += row.self_ns;
            corrected += row.corrected_self_ns;
        }
        EXPECT_EQ(static_cast<std::int64_t>(raw - corrected), report.subtracted_ns);
        if (!trace.target.calibrated) {
            EXPECT_EQ(report.subtracted_ns, 0);
        }
    });
}

// The sum of all paths is as exact as the clock, because paths below zero added nothing to it.
TEST(Sums, AllRemovedOverheadIsWhatRecordingTook) {
    for_each_trace([](const RandomTrace& trace) {
        if (!trace.target.calibrated) return;
        const Report report = trace.report(false);
        const HelloInfo& hello = *trace.profile.hello();
        const auto& nodes = trace.profile.tree().nodes();
        const auto& graph = hello.overheads[protocol::overhead_index(protocol::Recorder::graph)];
        const auto& function =
            hello.overheads[protocol::overhead_index(protocol::Recorder::function)];
        // No function pays the `outside` of a call that has no caller.
        double taken = 0;
        for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
            const CallTree::Node& node = nodes[i];
            const bool inner = node.parent > CallTree::overflow;
            const auto calls = static_cast<double>(node.calls - node.points);
            const double pad = report.no_landing_pad[node.function] ? hello.landing_pad : 0;
            const CallCosts costs(hello);
            const auto left = static_cast<double>(node.unwound);
            taken += calls * (graph.inside + pad) - left * static_cast<double>(costs.hook_inside) +
                     static_cast<double>(CallCosts(hello).of_instructions(1)) *
                         static_cast<double>(node.beside);
            if (!inner) continue;
            taken += calls * (graph.outside - pad) -
                     left * static_cast<double>(costs.hook_outside) +
                     static_cast<double>(node.points) * (function.outside - pad);
            if (node.tail == Tail::always)
                taken += calls * static_cast<double>(CallCosts(hello).tail);
            if (node.tail == Tail::maybe) {
                const Handed handed = handed_of(hello);
                taken += std::min(static_cast<double>(node.handed *
                                                      static_cast<std::uint64_t>(handed.weight)) /
                                      Handed::one,
                                  static_cast<double>(node.calls)) *
                         static_cast<double>(CallCosts(hello).tail);
            }
        }
        const double ns =
            taken * 1e9 / (protocol::overhead_unit * static_cast<double>(hello.clock_hz));
        const double shown =
            static_cast<double>(report.subtracted_ns) + static_cast<double>(report.below_zero_ns);
        EXPECT_NEAR(shown, ns, 3 + 1e-3 * std::abs(ns));
    });
}

TEST(Sums, ARowsMinMeanAndMaxAreInOrderAndNotAboveItsTotal) {
    for_each_trace([](const RandomTrace& trace) {
        const Report report = trace.report(false);
        for (const FunctionRow& row : report.functions) {
            for (const bool raw : {true, false}) {
                const auto call = call_of(row, raw);
                if (!call) continue;
                EXPECT_LE(call->min_ns, call->mean_ns) << row.name;
                EXPECT_LE(call->mean_ns, call->max_ns) << row.name;
                EXPECT_LE(call->max_ns, total_of(row, raw)) << row.name;
            }
        }
    });
}

// The same constants correct single calls and sums. If no path is below zero, the mean of the calls
// times their number is the total.
TEST(Sums, TheMeanOfCallsIsTheirTotal) {
    for_each_trace([](const RandomTrace& trace) {
        if (trace.has_gaps() || !trace.is_slow()) return;
        const Report report = trace.report(false);
        const auto& nodes = trace.profile.tree().nodes();
        std::map<std::uint32_t, double> totals[2];
        for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
            totals[0][nodes[i].function] += static_cast<double>(report.nodes[i].total_ns);
            totals[1][nodes[i].function] += static_cast<double>(report.raw_nodes[i].total_ns);
        }
        EXPECT_EQ(report.below_zero_ns, 0u);
        for (const bool raw : {false, true}) {
            for (const auto& [function, total] : totals[raw]) {
                const FunctionRow& row = report.by_number[function];
                const auto call = call_of(row, raw);
                if (!call || row.timed != row.calls) continue;
                EXPECT_NEAR(static_cast<double>(call->mean_ns),
                            total / static_cast<double>(row.timed), 2)
                    << row.name;
            }
        }
    });
}

constexpr std::int32_t unit = protocol::overhead_unit;

class Settled : public StreamReport {
protected:
    Settled() {
        target.calibrated = true;
        target.overheads[1] = {10 * unit, 0};
        target.hello();
    }
    // `caller` calls `callee` for `ticks`.
    void pair(std::uint32_t caller, std::uint32_t callee, std::uint64_t ticks) {
        const std::uint64_t outer = target.entry(caller, 100);
        target.ret(target.entry(callee, 50), ticks);
        target.ret(outer, 50);
    }
};

TEST_F(Settled, APathBelowZeroReducesItsCaller) {
    pair(1, 3, 4);    // its self time becomes 6 below zero
    pair(2, 3, 40);   // 30 above zero
    pair(4, 3, 110);  // 100 above zero
    const Report result = report();
    EXPECT_EQ(row(result, 3).corrected_self_ns, 30u + 100);
    EXPECT_EQ(row(result, 1).corrected_self_ns, 100u - 10 - 6);
    EXPECT_EQ(row(result, 1).corrected_total_ns, 104u - 2 * 10);
    EXPECT_EQ(row(result, 2).corrected_total_ns, 140u - 2 * 10);
    EXPECT_EQ(result.subtracted_ns, 6 * 10);
    EXPECT_EQ(result.below_zero_ns, 0u);
}

TEST_F(Settled, ARestBelowZeroIsReportedSeparately) {
    target.ret(target.entry(3, 50), 4);  // 6 below zero
    const std::uint64_t outer = target.entry(1, 100);
    target.ret(target.entry(3, 1), 4);  // 6 below zero
    target.ret(outer, 2);               // 7 below zero
    const Report result = report();
    EXPECT_EQ(row(result, 1).corrected_total_ns, 0u);
    EXPECT_EQ(row(result, 3).corrected_total_ns, 0u);
    EXPECT_EQ(result.subtracted_ns, 4 + 4 + 3);
    EXPECT_EQ(result.below_zero_ns, 6u + 6 + 7);
}

// If a path's self time is above zero, it has paid for all paths below zero inside it. So its total
// is exact.
TEST(Sums, TotalsAreExactAroundPathsBelowZero) {
    for_each_trace([](const RandomTrace& trace) {
        const Profile& profile = trace.profile;
        const auto& nodes = profile.tree().nodes();
        std::mt19937 random(7);
        std::vector<SignedFixedTicks> taken(nodes.size());
        for (std::size_t i = CallTree::overflow + 1; i < nodes.size(); ++i) {
            taken[i] = SignedFixedTicks{nodes[i].self_ticks} * unit * (random() % 5) / 2;
        }
        const Sums raw = sum_up(profile, profile.times_by_group(), {});
        const Sums settled = sum_up(profile, profile.times_by_group(), taken);
        std::vector<double> inside(nodes.size());
        for (std::size_t i = nodes.size(); i-- > CallTree::overflow + 1;) {
            inside[i] += static_cast<double>(taken[i]) / unit * 1e9 /
                         static_cast<double>(profile.hello()->clock_hz);
            inside[nodes[i].parent] += inside[i];
            const auto recorded = static_cast<double>(raw.nodes[i].total_ns);
            if (settled.nodes[i].self_ns < 2) continue;
            EXPECT_NEAR(static_cast<double>(settled.nodes[i].total_ns), recorded - inside[i],
                        2 + 1e-9 * recorded);
        }
    });
}

TEST_F(Settled, EachCallIsCorrectedByWhatItCalled) {
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t outer = target.entry(1, 100);
        for (int inner = 0; inner < i; ++inner) target.ret(target.entry(2, 5), 30);
        target.ret(outer, 100);
    }
    const FunctionRow outer = row(report(), 1);
    EXPECT_EQ(outer.call->min_ns, 100u);
    EXPECT_EQ(outer.call->max_ns, 170u);
    EXPECT_EQ(outer.corrected_call->min_ns, 100u - 10);
    EXPECT_EQ(outer.corrected_call->mean_ns, 135u - 10 - 10);
    EXPECT_EQ(outer.corrected_call->max_ns, 170u - 10 - 2 * 10);
}

}  // namespace nopscope::host::test::sums_test
