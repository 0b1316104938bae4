// SPDX-License-Identifier: Apache-2.0
// Room in the pool. Which sets share a list: random_requests_test.cpp.
#include "tracer/patching/ops_list_pool.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nopscope {
namespace {

class OpsListPoolTest : public ::testing::Test {
protected:
    // Takes a list of ops[first] to ops[first + count - 1], which a site then holds.
    template <typename Lists>
    OpsList* take(Lists& lists, unsigned first, unsigned count) {
        std::vector<Ops*> members;
        for (unsigned i = first; i < first + count; ++i) members.push_back(&ops[i]);
        OpsList* list = lists.get(members);
        if (list != nullptr) lists.hold(*list, 1);
        return list;
    }

    Ops ops[40];
};

std::uint64_t slot(const OpsList* list) { return reinterpret_cast<std::uintptr_t>(list); }

TEST_F(OpsListPoolTest, CollectFreesWhatNoSlotHolds) {
    OpsListPool<64> lists;
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

TEST_F(OpsListPoolTest, AnEmptyPoolHoldsNothing) {
    OpsListPool<64> lists;
    EXPECT_EQ(lists.in_use(), 0u);
    EXPECT_FALSE(lists.holds(slot(reinterpret_cast<OpsList*>(&lists))));
    lists.collect();
}

TEST_F(OpsListPoolTest, FullPoolSaysSoAndKeepsItsLists) {
    OpsListPool<64> lists;
    std::vector<OpsList*> all;
    while (OpsList* list = take(lists, static_cast<unsigned>(all.size()), 2)) all.push_back(list);
    EXPECT_GE(all.size(), 64u / 5);
    EXPECT_EQ(lists.in_use(), all.size());
    for (unsigned i = 0; i < all.size(); ++i) {
        EXPECT_EQ(take(lists, i, 2), all[i]) << "a list that is there needs no room";
        EXPECT_EQ(all[i]->members()[1], &ops[i + 1]);
    }
}

TEST_F(OpsListPoolTest, FreeBlocksJoin) {
    OpsListPool<64> lists;
    std::vector<OpsList*> all;
    while (OpsList* list = take(lists, static_cast<unsigned>(all.size()), 2)) all.push_back(list);
    EXPECT_EQ(take(lists, 0, 36), nullptr);
    // Every other list: no two free blocks are neighbours, so a long list has no room.
    for (unsigned i = 0; i < all.size(); i += 2) lists.release(*all[i], 1);
    lists.collect();
    EXPECT_EQ(take(lists, 0, 36), nullptr);
    for (unsigned i = 1; i < all.size(); i += 2) lists.release(*all[i], 1);
    lists.collect();
    EXPECT_EQ(lists.in_use(), 0u);
    EXPECT_NE(take(lists, 0, 36), nullptr);
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
        EXPECT_EQ(list->all().size(), count);
        EXPECT_EQ(list->all().front(), &ops[0]);
        EXPECT_EQ(list->all().back(), &ops[count - 1]);
    }
}

}  // namespace
}  // namespace nopscope
