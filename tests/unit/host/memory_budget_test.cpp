// SPDX-License-Identifier: Apache-2.0
// A profile with little memory. "(others)" contains what did not fit, and all sums stay exact.
#include "host-tools/base/memory.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::memory_budget_test {

TEST(Memory, SizesHaveUnits) {
    EXPECT_EQ(read_size("300000000"), 300'000'000u);
    EXPECT_EQ(read_size("2kB"), 2000u);
    EXPECT_EQ(read_size("500MB"), 500'000'000u);
    EXPECT_EQ(read_size("2GB"), 2'000'000'000u);
    EXPECT_EQ(read_size("1.5GiB"), 1'610'612'736u);
    for (const char* const wrong :
         {"", "GB", "-1", "2 GB", "2XB", "nan", "inf", "1e99GB", "99999999999GB", "0x10", "1e9"}) {
        EXPECT_EQ(read_size(wrong), std::nullopt) << wrong;
    }
}

TEST(Memory, ABudgetRefusesWhatItHasNot) {
    MemoryBudget budget;
    const std::uint64_t all = budget.left();
    EXPECT_FALSE(budget.take(all + 1));
    EXPECT_TRUE(budget.take(all));
    EXPECT_FALSE(budget.take(1));
    budget.release(10);
    EXPECT_TRUE(budget.take(10));
}

// Calls functions 1 to `functions`, three deep, on one core and in two contexts.
void call_all(TargetStream& target, std::uint32_t functions) {
    for (std::uint32_t outer = 1; outer <= functions; ++outer) {
        target.argument(Extended::context, outer % 2);
        const auto a = target.entry(outer, 10);
        for (std::uint32_t inner = 1; inner <= functions; ++inner) {
            const auto b = target.entry(inner, 3);
            target.ret(target.entry(outer + inner, 5), 7);
            target.ret(b, 1);
        }
        target.ret(a, 2);
    }
}

struct Totals {
    std::uint64_t calls = 0, self = 0, raw_self = 0, node_calls = 0, node_self = 0;
    bool operator==(const Totals&) const = default;
};

class LittleMemory : public testing::Test {
protected:
    // Leaves this share of the default budget.
    Report report(double share) {
        profile = std::make_unique<Profile>(MemoryBudget(share));
        SessionReader line(*profile);
        line.feed(target.bytes);
        line.finish();
        return or_throw(make_report(*profile, {{}, line.line(), line.counters()}, nullptr));
    }
    Totals totals(const Report& made) const {
        Totals sum;
        for (const FunctionRow& row : made.functions) {
            sum.calls += row.calls;
            sum.self += row.corrected.self_ns;
            sum.raw_self += row.self_ns;
        }
        const auto& nodes = profile->tree().nodes();
        for (std::size_t i = CallTree::overflow; i < nodes.size(); ++i) {
            sum.node_calls += nodes[i].calls;
            sum.node_self += made.nodes[i].self_ns;
        }
        return sum;
    }

    TargetStream target;
    std::unique_ptr<Profile> profile;
};

TEST_F(LittleMemory, MergesFunctionsAndPathsWithExactSums) {
    target.hello();
    call_all(target, 40);
    target.finish();
    const Report whole = report(1);
    EXPECT_FALSE(whole.others.any());
    EXPECT_EQ(others_line(whole), "");
    const Totals wanted = totals(whole);
    EXPECT_EQ(wanted.calls, 40u * (1 + 2 * 40));
    for (const double bytes : {0.0, 60e3, 200e3, 500e3, 1e6, 1.5e6}) {
        const Report less = report(bytes / 260e6);
        EXPECT_EQ(totals(less), wanted) << bytes;
        EXPECT_TRUE(less.others.any()) << bytes;
        EXPECT_LE(less.functions.size(), bytes / 4096 + 1) << bytes;
        EXPECT_THAT(text_report(less), HasSubstr("\nmemory: (others) has ")) << bytes;
        const auto json = nlohmann::json::parse(json_report(less));
        EXPECT_EQ(json["others"]["path_calls"], less.others.path_calls);
        EXPECT_EQ(less.by_number[0].name, "(others)");
        EXPECT_THAT(text_graph(less, *profile, {}), HasSubstr("(others)\n"));
    }
}

TEST_F(LittleMemory, AnOpenCallWithoutRoomIsCounted) {
    target.hello();
    for (int i = 0; i < 1000; ++i) target.entry(1);
    target.finish();
    const Report less = report(10e3 / 260e6);
    EXPECT_EQ(totals(less).calls, 1000u);
    EXPECT_GT(less.integrity.value("too_deep"), 900u);
}

// For cumulative values the last read-out counts, in "(others)" too.
TEST_F(LittleMemory, MergesTheTargetsProfileExactly) {
    target.hello();
    for (std::uint64_t number = 1; number <= 3; ++number) {
        protocol::ProfileWriter out(target.payload());
        for (std::uint32_t site = 1; site < 20; ++site) {
            out.put(8 * site, 100 * site * number, 9, 7, 90,
                    [&](unsigned bin) { return bin == 3 ? site * number : 0; });
        }
        target.frame(Stream::profile, 0, out.finish({number, 0, true, 9}));
    }
    target.finish();
    const auto sums = [](const Report& made) {
        std::pair<std::uint64_t, std::uint64_t> sum;
        for (const ProfileRow& row : made.profile) {
            sum.first += row.calls;
            sum.second += row.total_ns;
        }
        return sum;
    };
    const Report whole = report(1);
    EXPECT_EQ(whole.profile.size(), 19u);
    EXPECT_EQ(sums(whole).first, 3u * 190);
    for (const double bytes : {0.0, 5e3, 20e3, 60e3}) {
        const Report less = report(bytes / 260e6);
        ASSERT_EQ(sums(less), sums(whole)) << bytes;
        EXPECT_LT(less.profile.size(), 19u) << bytes;
        EXPECT_EQ(less.profile.back().name, "(others)") << bytes;
        EXPECT_EQ(less.others.calls, less.profile.back().calls);
    }
}

}  // namespace nopscope::host::test::memory_budget_test
