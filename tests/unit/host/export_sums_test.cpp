// SPDX-License-Identifier: Apache-2.0
// Sums by path in callgrind, folded and pprof files, and the sums of a format with single calls.
#include "host-tools/figures/profile/call_tree.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::export_sums_test {

// Random paths: some that differ in the caller alone meet in the hash table.
TEST(CallTree, KeepsAllPathsWhenItGrows) {
    CallTree tree;
    MemoryBudget budget;
    std::mt19937 random(1);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::vector<std::uint32_t> nodes{CallTree::root};
    for (int i = 0; i < 5000; ++i) {
        const std::uint32_t parent = nodes[random() % nodes.size()], function = random() % 40;
        const std::uint32_t node = tree.child(parent, function, budget);
        if (known.try_emplace({parent, function}, node).second) nodes.push_back(node);
    }
    EXPECT_EQ(tree.nodes().size(), 3 + known.size());
    for (const auto& [path, node] : known) {
        EXPECT_EQ(tree.child(path.first, path.second, budget), node);
        EXPECT_EQ(tree.nodes()[node].parent, path.first);
        EXPECT_EQ(tree.nodes()[node].function, path.second);
    }
    EXPECT_EQ(tree.nodes().size(), 3 + known.size());
}

class ExportSums : public test::PlayedReport {
protected:
    ExportSums() { target.hello(); }

    void report() { StreamReport::report(&symbols); }
    Aggregated sums() const { return {made, profile, false}; }
    // "caller>function calls self total samples" of what was played, sorted.
    std::vector<std::string> nodes() {
        if (made.sessions == 0) report();
        const PathTree tree = path_tree(sums());
        std::vector<std::string> paths{""}, out;
        for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
            const TreeNode& node = tree.nodes[i];
            const std::string& above = paths[node.parent];
            paths.push_back((above.empty() ? "" : above + ">") +
                            tree.functions[node.function].name);
            out.push_back(fmt::format("{} {} {} {} {}", paths.back(), node.calls, node.self_ns,
                                      node.total_ns, node.samples));
        }
        std::sort(out.begin(), out.end());
        return out;
    }
    std::string written(std::string (*write)(const Output&, const Aggregated&)) {
        Output output(directory / "out", Output::Kind::file);
        write(output, sums());
        output.commit();
        return test::text_of(directory / "out");
    }
    const std::filesystem::path directory = testing::TempDir();
    const Symbols symbols =
        test::symbols_of(target, {"f1", "f2", "f3", "f4", "f5", "f6", "f7", "same", "same"});
};

TEST_F(ExportSums, PathsHaveTheirCallsAndTimesInEachFormat) {
    // f1 also calls f3 directly. f2 has another call without a caller.
    play("0:1( 10:2( 0:3( 30:) 0:3( 5:) 2:) 0:3( 7:) 1:) 100:2( 0:3( 11:) 4:)");
    EXPECT_THAT(nodes(), ElementsAre("f1 1 11 55 0", "f1>f2 1 2 37 0", "f1>f2>f3 2 35 35 0",
                                     "f1>f3 1 7 7 0", "f2 1 4 15 0", "f2>f3 1 11 11 0"));
    EXPECT_EQ(written(write_folded), "f1 11\nf1;f2 2\nf1;f2;f3 35\nf1;f3 7\nf2 4\nf2;f3 11\n");
    // f2 calls f3 on two paths: three calls, 35 + 11 ns.
    for (const char* const part : {"calls=3 10\n10 46\n", "summary: 70\n", "fn=(2)\n10 6\n"})
        EXPECT_THAT(written(write_callgrind), HasSubstr(part));
    ASSERT_FALSE(written(write_pprof).empty());
    // In pprof, field 2: the locations f3, f2, f1, then two values: 2 calls, 35 ns.
    EXPECT_THAT(gunzipped(directory / "out"),
                HasSubstr(std::string("\x12\x09\x0a\x03\x03\x02\x01\x12\x02\x02\x23", 11)));
}

TEST_F(ExportSums, FunctionsOfOneNameStayTwo) {
    play("8( 3:) 9( 5:)");
    EXPECT_THAT(nodes(), ElementsAre("same 1 3 3 0", "same 1 5 5 0"));
}

TEST_F(ExportSums, CallsBehindAGapAddUp) {
    play("1( | 2( x 0:3( 3:) )1 1( | 2( x 0:3( 5:) )1");
    EXPECT_THAT(nodes(), IsSupersetOf({"(callers lost in a gap)>f3 2 8 8 0"}));
}

TEST_F(ExportSums, SamplesOfAPathAreOfItsLastFunction) {
    const auto sample = [&](std::vector<std::uint64_t> offsets) {
        const auto count = static_cast<unsigned>(offsets.size());
        for (std::uint64_t& offset : offsets) offset = protocol::sampled_address(offset, 4);
        target.with_data(protocol::Extended::sample, protocol::sample_argument(count, false, false),
                         offsets);
    };
    sample({8 * 2, 8 * 1 + 4});
    sample({8 * 2, 8 * 1 + 4});
    sample({8 * 1});
    EXPECT_THAT(nodes(), ElementsAre("f1 0 0 0 1", "f1>f2 0 0 0 2"));
}

TEST_F(ExportSums, AProfileBesideATraceIsLeftOut) {
    play("1( 5:)");
    report();
    ProfileRow row;
    row.name = "f1";
    row.calls = 1;
    made.profile.push_back(row);
    EXPECT_THAT(nodes(), ElementsAre("f1 1 5 5 0"));
    made.adaptive = true;
    EXPECT_THAT(nodes(), ElementsAre("(of the target's profile) 0 0 0 0",
                                     "(of the target's profile)>f1 1 0 0 0", "f1 1 5 5 0"));
}

}  // namespace nopscope::host::test::export_sums_test
