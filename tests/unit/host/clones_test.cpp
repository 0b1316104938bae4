// SPDX-License-Identifier: Apache-2.0
// Functions that have clones in one build, but not in another.
#include "host-tools/analysis/diff/clones.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::clones_test {

TEST(CloneName, TakesEachCompilersSuffixesOff) {
    const std::pair<const char*, bool> clones[] = {{"f.part.0", true},
                                                   {"f.part", true},
                                                   {"f.constprop.0", false},
                                                   {"f.isra.12", false},
                                                   {"f.cold", true},
                                                   {"f.cold.3", true},
                                                   {"f.lto_priv.0", false},
                                                   {"f.llvm.1234567", false},
                                                   {"f.constprop.0.isra.1", false},
                                                   {"f.part.0.constprop.2", true},
                                                   {"f [clone .part.0]", true},
                                                   {"f [clone .isra.0] [clone .cold]", true},
                                                   {"f [clone .constprop.0.isra.0]", false}};
    for (const auto& [name, is_piece] : clones) {
        EXPECT_EQ(clone_name(name).origin, "f") << name;
        EXPECT_EQ(clone_name(name).is_piece, is_piece) << name;
    }
    EXPECT_EQ(clone_name("a::f(int) [clone .part.0]").origin, "a::f(int)");
    for (const char* name :
         {"f", "f.c", "f.0", "f.partial.0", "part.0", ".part.0", "", ".", "f.part.", "f.part.x",
          "f [clone]", "f [clone x]", " [clone .part.0]", "[clone .part.0]", "f.1.2"}) {
        EXPECT_EQ(clone_name(name).origin, name);
    }
}

class FoldClones : public ::testing::Test {
protected:
    std::uint32_t function(const std::string& name, const std::string& file = "a.c") {
        FunctionPlace place;
        place.name = name;
        place.file = file;
        return names.function(place);
    }
    // Adds calls of the last function of a path: their number, self time and total.
    void add(RunSums& run, const std::vector<std::uint32_t>& functions, Amounts amounts) {
        std::uint32_t path = Names::root;
        for (const std::uint32_t one : functions) path = names.path(path, one);
        const auto sum = [&](Amounts& to) {
            to.calls += amounts.calls;
            to.self_ns += amounts.self_ns;
            to.total_ns += amounts.total_ns;
        };
        sum(run.paths[path]);
        sum(run.functions[functions.back()]);
        run.self_ns += amounts.self_ns;
    }
    const Amounts* of(const RunSums& run, const std::string& name) {
        for (const auto& [number, amounts] : run.functions) {
            if (folded.place(number).name == name) return &amounts;
        }
        return nullptr;
    }
    void fold() { folded = fold_clones(names, before, after); }
    static double self_of_all(const RunSums& run) {
        double sum = 0;
        for (const auto& [number, amounts] : run.functions) sum += amounts.self_ns;
        return sum;
    }

    Names names, folded;
    std::vector<RunSums> before = std::vector<RunSums>(1), after = std::vector<RunSums>(1);
};

TEST_F(FoldClones, APieceGoesOnWithItsOriginsCall) {
    const std::uint32_t main = function("main"), work = function("work"),
                        part = function("work.part.0");
    add(before[0], {main}, {1, 10, 110});
    add(before[0], {main, work}, {4, 100, 100});
    add(after[0], {main}, {1, 10, 130});
    add(after[0], {main, work}, {4, 60, 120});
    add(after[0], {main, work, part}, {2, 60, 60});
    fold();
    const Amounts* const one = of(before[0], "work");
    const Amounts* const two = of(after[0], "work");
    ASSERT_TRUE(one != nullptr && two != nullptr && of(after[0], "work.part.0") == nullptr);
    EXPECT_EQ(one->calls, 4);
    EXPECT_EQ(two->calls, 4);
    EXPECT_EQ(two->self_ns, 120);
    EXPECT_EQ(two->total_ns, 120);
    EXPECT_EQ(self_of_all(after[0]), after[0].self_ns);
    EXPECT_EQ(after[0].paths.size(), 2u);
    EXPECT_EQ(after[0].paths.size(), before[0].paths.size());
}

TEST_F(FoldClones, VersionsAreCallsAndAPieceByItselfIsOne) {
    const std::uint32_t main = function("main"), work = function("work"),
                        part = function("work.part.0");
    const std::uint32_t version = function("work.constprop.0");
    add(before[0], {main, work}, {6, 60, 60});
    add(after[0], {main, work}, {1, 10, 10});
    add(after[0], {main, version}, {2, 20, 25});
    add(after[0], {main, version, version}, {1, 5, 5});
    add(after[0], {main, part}, {3, 30, 30});
    fold();
    const Amounts* const two = of(after[0], "work");
    ASSERT_NE(two, nullptr);
    EXPECT_EQ(two->calls, 7);
    EXPECT_EQ(two->self_ns, 65);
    EXPECT_EQ(two->total_ns, 65);  // the inner call's total is in the outer call's
    EXPECT_EQ(folded.clones(after[0].functions.begin()->first).size(), 3u);
}

TEST_F(FoldClones, ClonesOfBothBuildsStayApart) {
    const std::uint32_t work = function("work"), part = function("work.part.0");
    for (std::vector<RunSums>* const side : {&before, &after}) {
        add((*side)[0], {work}, {1, 10, 15});
        add((*side)[0], {work, part}, {1, 5, 5});
    }
    fold();
    EXPECT_EQ(before[0].functions.size(), 2u);
    EXPECT_EQ(after[0].functions.size(), 2u);
    EXPECT_FALSE(folded.is_sum(0) || folded.is_sum(1));
}

TEST_F(FoldClones, FunctionsOfOtherFilesAreOthers) {
    const std::uint32_t work = function("work"), other = function("work.part.0", "b.c");
    add(before[0], {work}, {1, 10, 10});
    add(after[0], {other}, {1, 10, 10});
    fold();
    EXPECT_EQ(of(before[0], "work")->calls, 1);
    EXPECT_EQ(of(after[0], "work"), nullptr);
    EXPECT_EQ(of(after[0], "work.part.0")->calls, 1);
}

}  // namespace nopscope::host::test::clones_test
