// SPDX-License-Identifier: Apache-2.0
// Limits of sets, lists and ops, and a list that a core may be reading. Other requests:
// random_requests_test.cpp.
#include "tests/unit/tracer/text_fixture.hpp"
#include "tracer/patching/ops_list_pool.hpp"

namespace nopscope::testing::transition_planner_test {

struct TenSites : IdleSites {
    using IdleSites::IdleSites;
    // All state that a refused request must not change.
    auto everything() {
        std::vector<std::uint64_t> all{patcher.enabled(), patcher.lists_in_use()};
        for (std::uint32_t i = 0; i < sites.size(); ++i) {
            all.push_back(reinterpret_cast<std::uintptr_t>(&object(i)));
            all.push_back(word(i));
            if (ops_of(i).size() > 1) all.push_back(static_cast<OpsList&>(object(i)).refs);
        }
        for (const Ops* ops :
             {&function_ops, &graph_ops, &far_ops, &callback_ops, &other_callback_ops})
            all.push_back(ops->sites);
        all.push_back(writes());
        return all;
    }
};

// A core may still be reading the list, so later requests do not reuse its memory either.
TEST(TransitionPlannerTest, AListIsKeptWhileACoreDoesNotComeOut) {
    TenSites t;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    ASSERT_EQ(t.change(&t.other_callback_ops, nullptr), Status::ok);
    const auto& list = static_cast<OpsList&>(t.object(0));
    t.quiescent = false;
    ASSERT_EQ(t.change(nullptr, &t.callback_ops), Status::ok);
    EXPECT_EQ(list.count, 2u);
    ASSERT_EQ(t.change(&t.graph_ops, nullptr), Status::ok);
    EXPECT_EQ(t.change(&t.function_ops, nullptr), Status::conflict);
    EXPECT_EQ(list.count, 2u);
    EXPECT_EQ(list.members()[0], &t.callback_ops);
    t.quiescent = true;
    ASSERT_EQ(t.change(&t.graph_ops, nullptr), Status::ok);
    EXPECT_EQ(t.patcher.lists_in_use(), 1u);
}

TEST(TransitionPlannerTest, AsManyOpsAsASiteCanHave) {
    TenSites t(2);
    std::deque<Ops> many(max_list_members + 1, Ops{.func = a_callback});
    for (std::size_t i = 0; i < max_list_members; ++i)
        ASSERT_EQ(t.change(&many[i], nullptr), Status::ok) << i;
    EXPECT_EQ(t.ops_of(1).size(), max_list_members);
    const auto before = t.everything();
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::too_many);
    EXPECT_EQ(t.everything(), before);
    for (std::size_t i = 0; i < max_list_members; ++i) {
        EXPECT_EQ(t.ops_of(1)[0], &many[i]);
        ASSERT_EQ(t.change(nullptr, &many[i]), Status::ok);
    }
    EXPECT_EQ(t.patcher.lists_in_use(), 0u);
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::ok) << "those that left make room";
}

// The sets are small, but too many ops are attached.
TEST(TransitionPlannerTest, AsManyOpsAsThereCanBe) {
    TenSites t;
    std::deque<Ops> many(max_attached, Ops{.func = a_callback});
    ASSERT_EQ(t.change(&t.graph_ops, nullptr, 9), Status::ok);
    for (std::uint32_t i = 0; i < max_attached - 1; ++i) {
        // A refused ops takes no place.
        EXPECT_EQ(t.change(&t.function_ops, nullptr), Status::conflict);
        ASSERT_EQ(t.change(&many[i], nullptr, i % 10, 1), Status::ok) << i;
    }
    const auto before = t.everything();
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::too_many);
    EXPECT_EQ(t.everything(), before);
    ASSERT_EQ(t.change(&many[0], nullptr, 1, 1), Status::ok) << "one that is attached";
    ASSERT_EQ(t.change(nullptr, &many[1]), Status::ok);
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::ok) << "the one that left made room";
}

// Each of 300 sites gets a different set. The pool cannot hold so many lists.
TEST(TransitionPlannerTest, TooManyDifferentSetsChangeNothing) {
    TenSites t(300);
    std::deque<Ops> many(20, Ops{.func = a_callback});
    for (unsigned i = 9; i < 14; ++i) ASSERT_EQ(t.change(&many[i], nullptr), Status::ok);
    Status status = Status::ok;
    std::vector<std::uint64_t> before;
    unsigned requests = 0;
    for (unsigned bit = 0; bit < 9 && status == Status::ok; ++bit) {
        for (std::uint32_t i = 0; i < 300 && status == Status::ok; ++i) {
            if ((i >> bit & 1) == 0) continue;
            before = t.everything();
            status = t.change(&many[bit], nullptr, i, 1);
            ++requests;
        }
    }
    EXPECT_EQ(status, Status::too_many) << requests;
    EXPECT_EQ(t.everything(), before);
    // One request for all sites: the pool holds some of the lists before it is full.
    EXPECT_EQ(t.change(&many[19], nullptr), Status::too_many);
    EXPECT_EQ(t.everything(), before);
    for (Ops& ops : many) EXPECT_EQ(t.change(nullptr, &ops), Status::ok);
    EXPECT_EQ(t.patcher.lists_in_use(), 0u);
    EXPECT_EQ(t.patcher.enabled(), 0u);
}

// ---- Room in the pool. Which sets share a list: random_requests_test.cpp.

struct OpsListPoolTest : ::testing::Test {
    // Takes a list of ops[first] to ops[first + count - 1], which a site then holds.
    template <typename Lists>
    OpsList* take(Lists& lists, unsigned first, unsigned count) {
        std::vector<Ops*> members;
        for (unsigned i = first; i < first + count; ++i) members.push_back(&ops[i]);
        OpsList* list = lists.get(members);
        if (list != nullptr) lists.hold(*list, 1);
        return list;
    }
    // Takes lists of two until there is no room.
    std::vector<OpsList*> fill(OpsListPool<64>& lists) {
        std::vector<OpsList*> all;
        while (OpsList* list = take(lists, static_cast<unsigned>(all.size()), 2))
            all.push_back(list);
        return all;
    }

    Ops ops[40];
};

std::uint64_t slot(const OpsList* list) { return reinterpret_cast<std::uintptr_t>(list); }

TEST_F(OpsListPoolTest, CollectFreesWhatNoSlotHolds) {
    OpsListPool<64> lists;
    EXPECT_EQ(lists.in_use(), 0u);
    EXPECT_FALSE(lists.holds(reinterpret_cast<std::uintptr_t>(&lists)));
    lists.collect();
    OpsList* held = take(lists, 0, 2);
    OpsList* dropped = take(lists, 1, 2);
    lists.release(*dropped, 1);
    lists.collect();
    EXPECT_EQ(lists.in_use(), 1u);
    EXPECT_TRUE(lists.holds(slot(held)));
    EXPECT_FALSE(lists.holds(slot(dropped)));
    EXPECT_TRUE(lists.contains(slot(dropped))) << "still by address";
    EXPECT_FALSE(lists.holds(slot(held) + 16)) << "the middle of a list is none";
    EXPECT_FALSE(lists.contains(reinterpret_cast<std::uintptr_t>(&ops[0])));
    EXPECT_FALSE(lists.contains(0));
}

TEST_F(OpsListPoolTest, FullPoolSaysSoAndKeepsItsLists) {
    OpsListPool<64> lists;
    const std::vector<OpsList*> all = fill(lists);
    EXPECT_GE(all.size(), 64u / 5);
    EXPECT_EQ(lists.in_use(), all.size());
    for (unsigned i = 0; i < all.size(); ++i) {
        EXPECT_EQ(take(lists, i, 2), all[i]) << "a list that is there needs no room";
        EXPECT_EQ(all[i]->members()[1], &ops[i + 1]);
    }
}

TEST_F(OpsListPoolTest, FreeBlocksJoin) {
    OpsListPool<64> lists;
    const std::vector<OpsList*> all = fill(lists);
    EXPECT_EQ(take(lists, 0, 36), nullptr);
    // Every other list, so that no two free blocks are neighbours, and then the others.
    for (const unsigned first : {0u, 1u}) {
        for (unsigned i = first; i < all.size(); i += 2) lists.release(*all[i], 1);
        lists.collect();
        EXPECT_EQ(lists.in_use() == 0, first == 1);
        EXPECT_EQ(take(lists, 0, 36) != nullptr, first == 1) << "a long list";
    }
    EXPECT_EQ(lists.in_use(), 1u);
}

// A remainder that is too small for a header stays with the list's block.
TEST_F(OpsListPoolTest, EveryRemainderFits) {
    for (unsigned count = 2; count <= 40; ++count) {
        OpsListPool<24> lists;
        OpsList* list = take(lists, 0, count);
        if (list == nullptr) continue;
        EXPECT_EQ(list->all().back(), &ops[count - 1]);
        while (OpsList* more = take(lists, count % 7, 2))
            if (more->refs > 1) break;
        EXPECT_EQ(tuple(list->all().size(), list->all().front(), list->all().back()),
                  tuple(count, &ops[0], &ops[count - 1]));
    }
}

}  // namespace nopscope::testing::transition_planner_test
