// SPDX-License-Identifier: Apache-2.0
// Functions that have clones in one build, but not in another.
#include "host-tools/figures/diff/clones.hpp"
#include "host-tools/image/function_names.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::clones_test {

TEST(CloneName, TakesEachCompilersSuffixesOff) {
    for (const char* const piece :
         {"f.part.0", "f.part", "f.cold", "f.cold.3", "f.part.0.constprop.2", "f [clone .part.0]",
          "f [clone .isra.0] [clone .cold]"}) {
        EXPECT_EQ(clone_name(piece).origin, "f") << piece;
        EXPECT_TRUE(clone_name(piece).is_piece) << piece;
    }
    for (const char* const version :
         {"f.constprop.0", "f.isra.12", "f.lto_priv.0", "f.llvm.1234567", "f.constprop.0.isra.1",
          "f [clone .constprop.0.isra.0]"}) {
        EXPECT_EQ(clone_name(version).origin, "f") << version;
        EXPECT_FALSE(clone_name(version).is_piece) << version;
    }
    EXPECT_EQ(clone_name("a::f(int) [clone .part.0]").origin, "a::f(int)");
    for (const char* name :
         {"f", "f.c", "f.0", "f.partial.0", "part.0", ".part.0", "", ".", "f.part.", "f.part.x",
          "f [clone]", "f [clone x]", " [clone .part.0]", "[clone .part.0]", "f.1.2"})
        EXPECT_EQ(clone_name(name).origin, name);
}

class FoldClones : public ::testing::Test {
protected:
    std::uint32_t function(const std::string& name, const std::string& file = "a.c") {
        return names.function({.name = name, .file = file});
    }
    // Adds calls of the last function of a path: their number, self time and total.
    void add(RunSums& run, const std::vector<std::uint32_t>& functions, Amounts amounts) {
        std::uint32_t path = Names::root;
        for (const std::uint32_t one : functions) path = names.path(path, one);
        for (Amounts* const to : {&run.paths[path], &run.functions[functions.back()]}) {
            to->calls += amounts.calls;
            to->self_ns += amounts.self_ns;
            to->total_ns += amounts.total_ns;
        }
        run.self_ns += amounts.self_ns;
    }
    using Figures = std::vector<double>;
    // A function's calls, self time and total; empty if it is not there.
    Figures of(const RunSums& run, const std::string& name) {
        for (const auto& [number, amounts] : run.functions) {
            if (folded.place(number).name == name)
                return {amounts.calls, amounts.self_ns, amounts.total_ns};
        }
        return {};
    }
    void fold() { folded = fold_clones(names, before, after); }

    Names names, folded;
    const std::uint32_t main = function("main"), work = function("work"),
                        part = function("work.part.0");
    std::vector<RunSums> before = std::vector<RunSums>(1), after = std::vector<RunSums>(1);
};

TEST_F(FoldClones, APieceGoesOnWithItsOriginsCall) {
    add(before[0], {main}, {1, 10, 110});
    add(before[0], {main, work}, {4, 100, 100});
    add(after[0], {main}, {1, 10, 130});
    add(after[0], {main, work}, {4, 60, 120});
    add(after[0], {main, work, part}, {2, 60, 60});
    fold();
    EXPECT_EQ(of(after[0], "work.part.0"), Figures());
    EXPECT_EQ(of(before[0], "work"), (Figures{4, 100, 100}));
    EXPECT_EQ(of(after[0], "work"), (Figures{4, 120, 120}));
    EXPECT_EQ(of(after[0], "work")[1] + of(after[0], "main")[1], after[0].self_ns);
    EXPECT_EQ(after[0].paths.size(), 2u);
    EXPECT_EQ(before[0].paths.size(), 2u);
}

TEST_F(FoldClones, VersionsAreCallsAndAPieceByItselfIsOne) {
    const std::uint32_t version = function("work.constprop.0");
    add(before[0], {main, work}, {6, 60, 60});
    add(after[0], {main, work}, {1, 10, 10});
    add(after[0], {main, version}, {2, 20, 25});
    add(after[0], {main, version, version}, {1, 5, 5});
    add(after[0], {main, part}, {3, 30, 30});
    fold();
    // The inner call's total is in the outer call's.
    EXPECT_EQ(of(after[0], "work"), (Figures{7, 65, 65}));
    EXPECT_EQ(folded.clones(after[0].functions.begin()->first).size(), 3u);
}

TEST_F(FoldClones, ClonesOfBothBuildsStayApart) {
    for (std::vector<RunSums>* const side : {&before, &after}) {
        add((*side)[0], {work}, {1, 10, 15});
        add((*side)[0], {work, part}, {1, 5, 5});
    }
    fold();
    EXPECT_EQ(before[0].functions.size(), 2u);
    EXPECT_EQ(after[0].functions.size(), 2u);
    for (const auto& [number, amounts] : after[0].functions) EXPECT_FALSE(folded.is_sum(number));
}

TEST_F(FoldClones, FunctionsOfOtherFilesAreOthers) {
    const std::uint32_t other = function("work.part.0", "b.c");
    add(before[0], {work}, {1, 10, 10});
    add(after[0], {other}, {1, 10, 10});
    fold();
    EXPECT_EQ(of(before[0], "work").at(0), 1);
    EXPECT_EQ(of(after[0], "work"), Figures());
    EXPECT_EQ(of(after[0], "work.part.0").at(0), 1);
}

}  // namespace nopscope::host::test::clones_test
