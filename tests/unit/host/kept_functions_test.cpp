// SPDX-License-Identifier: Apache-2.0
// Reports, graphs and stacks of some functions only.
#include "host-tools/analysis/report/kept_functions.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::kept_functions_test {

class KeptFunctions : public testing::Test {
protected:
    Report kept_report(const std::string& glob, bool raw = false) const {
        Report report = trace.report(raw);
        keep_functions(report, glob);
        return report;
    }
    const RandomTrace trace{1};
};

TEST_F(KeptFunctions, RowsStayAsTheyAre) {
    const Report all = trace.report(false);
    const Report kept = kept_report("f2");
    ASSERT_EQ(kept.functions.size(), 1u);
    for (const FunctionRow& row : all.functions) {
        if (row.name != "f2") continue;
        EXPECT_EQ(kept.functions[0].self_ns, row.self_ns);
        EXPECT_EQ(kept.functions[0].calls, row.calls);
    }
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
        if (!has_children[node["id"]]) {
            EXPECT_EQ(node["name"], "f2");
        }
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
        if (tree.functions[node.function].name != "f2") {
            EXPECT_EQ(node.self_ns + node.calls, 0u);
        }
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

}  // namespace nopscope::host::test::kept_functions_test
