// SPDX-License-Identifier: Apache-2.0
// Reports, graphs and stacks of some functions only; reports without short calls.
#include "host-tools/figures/report/kept_functions.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::kept_functions_test {

class KeptFunctions : public testing::Test {
protected:
    Report kept_report(const std::string& glob, bool raw = false) const {
        Report report = trace.report(raw);
        or_throw(keep_functions(report, glob));
        return report;
    }
    const RandomTrace trace{1};
};

TEST_F(KeptFunctions, RowsStayAsTheyAre) {
    const FunctionRow row = named(trace.report(false).functions, "f2");
    const Report kept = kept_report("f2");
    ASSERT_EQ(kept.functions.size(), 1u);
    EXPECT_EQ(kept.functions[0].self_ns, row.self_ns);
    EXPECT_EQ(kept.functions[0].calls, row.calls);
}

TEST_F(KeptFunctions, TheGraphLeadsToThem) {
    const Report kept = kept_report("f2");
    const Json nodes = Json::parse(json_graph(kept, trace.profile, {}))["nodes"];
    std::map<std::uint64_t, bool> has_children;
    for (const Json& node : nodes) {
        if (!node["parent"].is_null()) has_children[node["parent"]] = true;
    }
    std::uint64_t calls = 0;
    for (const Json& node : nodes) {
        if (node["name"] == "f2") calls += node["calls"].get<std::uint64_t>();
        EXPECT_TRUE(has_children[node["id"]] || node["name"] == "f2") << node;
    }
    EXPECT_EQ(calls, kept.functions[0].calls);
    EXPECT_THAT(text_graph(kept, trace.profile, {}), AllOf(HasSubstr("f2\n"), HasSubstr("calls")));
}

TEST_F(KeptFunctions, StacksHaveWhatIsTheirOwn) {
    const Report kept = kept_report("f2", true);
    const PathTree tree = path_tree({kept, trace.profile, true});
    std::uint64_t self = 0, total = 0;
    for (const TreeNode& node : tree.nodes) {
        if (&node == &tree.nodes[0]) continue;
        self += node.self_ns;
        if (node.parent == 0) total += node.total_ns;
        EXPECT_TRUE(tree.functions[node.function].name == "f2" || node.self_ns + node.calls == 0);
    }
    EXPECT_EQ(self, kept.functions[0].self_ns);
    EXPECT_GE(total, self);
}

TEST_F(KeptFunctions, ANameThatNoneHasIsAnError) {
    EXPECT_THAT(test::error_of([&] { (void)kept_report("f99"); }).what(),
                HasSubstr("--function: no function that was called is named f99"));
}

TEST_F(KeptFunctions, TheLongestCallIsNamed) {
    Report report = trace.report(false);
    for (const FunctionRow& row : report.functions) ASSERT_TRUE(row.longest) << row.name;
    const std::string where = longest_text(*report.functions[0].longest);
    EXPECT_THAT(where, HasSubstr(" on core 0"));
    EXPECT_EQ(text_report(report).find("longest ended at"), std::string::npos);
    report.sort = SortKey::max;
    EXPECT_THAT(text_report(report), AllOf(HasSubstr("longest ended at"), HasSubstr(where)));
    EXPECT_EQ(longest_text({.end_ns = 10'500'000, .core = 1, .context = 7}),
              "10.5ms on core 1, context 7");
    EXPECT_TRUE(json_longest(std::nullopt).is_null());
}

// Profile::leave_out_shorter(): what short calls took is their callers' own time.
using Sums = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;  // calls, self

// Sums of the calls that another stream shows.
struct Shown final : EventSink {
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names[number] = place.name;
    }
    void leave(const Track&, const EndedCall& call) override {
        if (call.function >= first_own_function) return;
        auto& [calls, self] = sums[names[call.function]];
        ++calls;
        self += call.self;
    }
    void finish() override {}

    std::map<std::uint32_t, std::string> names;
    Sums sums;
};

Profile profile_of(const RandomTrace& trace, Nanoseconds least, bool raw) {
    Profile profile;
    profile.leave_out_shorter(least, raw);
    profile.know_code(code_of_calls(known(trace.symbols)));
    read_line(trace.target, profile);
    profile.know_code({});
    return profile;
}

TEST(ShortCalls, ReportCountsTheCallsThatEventsShow) {
    unsigned compared = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTrace trace(seed);
        if (trace.has_gaps() || 1'000'000'000 % trace.target.clock_hz != 0) continue;
        const Nanoseconds tick = 1'000'000'000 / trace.target.clock_hz;
        if (tick > 100) continue;
        const Nanoseconds least = (1 + seed * 7 % 900) * tick;
        Shown shown;
        SelectedCalls selected(shown, {.function = "", .least_time = least});
        Events events(selected, known(trace.symbols), "trace", std::nullopt);
        read_line(trace.target, events);
        selected.finish();
        const Report report = or_throw(
            make_report(profile_of(trace, least, true), trace.profile.counters(), &trace.symbols));
        Sums sums;
        for (const FunctionRow& row : report.functions) sums[row.name] = {row.calls, row.self_ns};
        EXPECT_EQ(sums, shown.sums) << "seed " << seed << ", least " << least;
        compared += shown.sums.empty() ? 0 : 1;
    }
    EXPECT_GT(compared, 20u);
}

// All calls' own time but that of outermost calls which are left out, and the number of calls.
struct All {
    std::uint64_t outermost = 0, calls = 0, self_ns = 0;
};
All all_of(const RandomTrace& trace, Nanoseconds least) {
    const Profile profile = profile_of(trace, least, false);
    All all;
    for (const CallTree::Node& node : profile.tree().nodes())
        all.outermost += node.parent == CallTree::root ? node.calls : 0;
    const Report report = or_throw(make_report(profile, trace.profile.counters(), &trace.symbols));
    for (const FunctionRow& row : report.functions) {
        all.calls += row.calls;
        all.self_ns += row.corrected.self_ns;
    }
    return all;
}

// Without the overhead, all own times together are the same, whoever has them.
TEST(ShortCalls, TheirOverheadIsNotInTheirCallers) {
    unsigned compared = 0;
    for (unsigned seed = 1; seed < 500; seed += 2) {
        const RandomTrace trace(seed);
        if (!trace.is_slow() || trace.has_gaps() || trace.target.clock_hz < 1'000'000) continue;
        const All whole = all_of(trace, 0);
        const Nanoseconds tick = 1'000'000'000 / trace.target.clock_hz;
        const All some = all_of(trace, 300 * tick);
        if (whole.outermost != some.outermost) continue;
        // Which call handed its return on by a tail call is not known of those left out.
        EXPECT_NEAR(static_cast<double>(some.self_ns), static_cast<double>(whole.self_ns),
                    1e-4 * static_cast<double>(whole.self_ns))
            << "seed " << seed << ": " << some.calls << " of " << whole.calls << " calls";
        ++compared;
    }
    EXPECT_GT(compared, 10u);
}

}  // namespace nopscope::host::test::kept_functions_test
