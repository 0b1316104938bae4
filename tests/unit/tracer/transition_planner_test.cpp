// SPDX-License-Identifier: Apache-2.0
// Sets of ops: slot and word after a request, and the state after a refused one.
#include "tests/unit/tracer/text_fixture.hpp"

#include <deque>

namespace nopscope {
namespace {

using testing::a_callback;
using testing::Text;

struct TenSites : Text {
    explicit TenSites(unsigned count = 10) {
        add_many(count);
        initialise();
    }
    OpsList& list(std::uint32_t index) { return static_cast<OpsList&>(object(index)); }
    bool calls(std::uint32_t index) {
        return word(index) == bl(index, testing::callback_trampoline);
    }
    // All state that a refused request must not change.
    auto everything() {
        std::vector<std::uint64_t> all{patcher.enabled(), patcher.lists_in_use()};
        for (std::uint32_t i = 0; i < sites.size(); ++i) {
            all.push_back(reinterpret_cast<std::uintptr_t>(&object(i)));
            all.push_back(word(i));
            if (ops_of(i).size() > 1) all.push_back(list(i).refs);
        }
        for (const Ops* ops :
             {&function_ops, &graph_ops, &far_ops, &callback_ops, &other_callback_ops}) {
            all.push_back(ops->sites);
        }
        all.push_back(machine.word_writes);
        all.push_back(machine.slot_writes);
        return all;
    }
};

TEST(TransitionPlannerTest, NoneOneSeveralOneNone) {
    TenSites t;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    EXPECT_EQ(&t.object(4), &t.callback_ops);
    EXPECT_TRUE(t.calls(4));
    EXPECT_EQ(t.patcher.enabled(), 10u);
    EXPECT_EQ(t.callback_ops.sites, 10u);
    EXPECT_EQ(t.synchronized, 0u) << "nothing is freed";

    ASSERT_EQ(t.change(&t.other_callback_ops, nullptr, 0, 5), Status::ok);
    EXPECT_EQ(t.ops_of(4), (std::vector{&t.callback_ops, &t.other_callback_ops}));
    EXPECT_EQ(&t.object(0), &t.object(4)) << "one list for one set";
    EXPECT_EQ(t.list(0).refs, 5u);
    EXPECT_EQ(t.patcher.lists_in_use(), 1u);
    EXPECT_EQ(&t.object(5), &t.callback_ops);
    EXPECT_EQ(t.other_callback_ops.sites, 5u);
    EXPECT_TRUE(t.calls(4));

    ASSERT_EQ(t.change(nullptr, &t.callback_ops), Status::ok);
    EXPECT_EQ(&t.object(4), &t.other_callback_ops);
    EXPECT_EQ(&t.object(5), &t.none);
    EXPECT_EQ(t.word(5), arch::idle_word);
    EXPECT_EQ(t.patcher.enabled(), 5u);
    EXPECT_EQ(t.callback_ops.sites, 0u);
    EXPECT_EQ(t.patcher.lists_in_use(), 0u) << "detach frees lists";
    EXPECT_EQ(t.synchronized, 2u) << "before none and after it";

    ASSERT_EQ(t.change(nullptr, &t.other_callback_ops), Status::ok);
    EXPECT_EQ(t.patcher.enabled(), 0u);
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(&t.object(i), &t.none);
        EXPECT_EQ(t.word(i), arch::idle_word);
    }
}

// An ops with a callback and a direct entry goes through the trampoline, even alone.
TEST(TransitionPlannerTest, OneOpsWithCallbackAndDirectEntry) {
    TenSites t;
    t.callback_ops.direct = testing::graph_entry;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    EXPECT_TRUE(t.calls(0));
    EXPECT_EQ(&t.object(0), &t.callback_ops);
    // The unguarded one has no direct entry after it.
    t.other_callback_ops.direct = testing::function_entry;
    t.other_callback_ops.flags = ops_unguarded;
    ASSERT_EQ(t.change(&t.other_callback_ops, &t.callback_ops), Status::ok);
    EXPECT_TRUE(t.calls(0));
}

TEST(TransitionPlannerTest, AttachedAgainOrNeverAttachedIsNoChange) {
    TenSites t;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    ASSERT_EQ(t.change(&t.graph_ops, nullptr), Status::ok);
    const auto before = t.everything();
    EXPECT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    EXPECT_EQ(t.change(nullptr, &t.function_ops), Status::ok);
    EXPECT_EQ(t.everything(), before);
}

// The last site refuses. The other sites have not changed, and the next request works.
TEST(TransitionPlannerTest, ConflictsChangeNothing) {
    for (const unsigned kind : {0u, 1u, 2u, 3u, 4u}) {
        SCOPED_TRACE(kind);
        TenSites t;
        Ops redirecting{.func = a_callback, .flags = ops_redirects};
        Ops both{.func = a_callback, .direct = testing::graph_entry, .flags = ops_redirects};
        Ops* there[] = {&t.graph_ops, &redirecting, &t.graph_ops, &redirecting, &t.callback_ops};
        Ops second{.func = a_callback, .flags = ops_redirects};
        Ops* add[] = {&t.function_ops, &second, &redirecting, &t.graph_ops, &both};
        ASSERT_EQ(t.change(&t.callback_ops, nullptr, 0, 4), Status::ok);
        ASSERT_EQ(t.change(there[kind], nullptr, 9, 1), Status::ok);
        const auto before = t.everything();
        EXPECT_EQ(t.change(add[kind], nullptr, kind == 4 ? 9 : 0), Status::conflict);
        EXPECT_EQ(t.everything(), before);
        EXPECT_EQ(add[kind]->sites, 0u);
        // Replacing the other ops is no conflict. An ops with both is always one.
        EXPECT_EQ(t.change(add[kind], there[kind]), kind == 4 ? Status::conflict : Status::ok);
    }
}

TEST(TransitionPlannerTest, SurprisesChangeNothing) {
    for (const bool corrupt_word : {false, true}) {
        TenSites t;
        ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
        ASSERT_EQ(t.change(&t.graph_ops, nullptr, 5), Status::ok);
        const PatchSite site = t.placed.back();
        const Address at = corrupt_word ? site.toggle() : site.slot();
        const std::uint32_t was = t.machine.read_word(at);
        // The word, or the slot, of the neighbour: valid, but not for this site.
        t.machine.load(at, corrupt_word ? arch::idle_word : was + 16);
        const auto state = [&] { return t.everything(); };
        const auto before = corrupt_word ? state() : std::vector<std::uint64_t>{};
        EXPECT_EQ(t.change(&t.other_callback_ops, nullptr), Status::unexpected_text);
        EXPECT_EQ(t.patcher.last_error().address, at);
        if (corrupt_word) {
            EXPECT_EQ(state(), before);
        }
        t.machine.load(at, was);
        EXPECT_EQ(t.other_callback_ops.sites, 0u);
        EXPECT_EQ(t.patcher.lists_in_use(), 1u);
        EXPECT_EQ(t.change(&t.other_callback_ops, nullptr), Status::ok);
    }
}

// A core may still be reading the list, so later requests do not reuse its memory either.
TEST(TransitionPlannerTest, AListIsKeptWhileACoreDoesNotComeOut) {
    TenSites t;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    ASSERT_EQ(t.change(&t.other_callback_ops, nullptr), Status::ok);
    const OpsList& list = t.list(0);
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
    for (std::size_t i = 0; i < max_list_members; ++i) {
        ASSERT_EQ(t.change(&many[i], nullptr), Status::ok) << i;
    }
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
    std::deque<Ops> many(max_attached + 1, Ops{.func = a_callback});
    for (std::uint32_t i = 0; i < max_attached; ++i) {
        ASSERT_EQ(t.change(&many[i], nullptr, i % 10, 1), Status::ok) << i;
    }
    const auto before = t.everything();
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::too_many);
    EXPECT_EQ(t.everything(), before);
    ASSERT_EQ(t.change(&many[0], nullptr, 1, 1), Status::ok) << "one that is attached";
    ASSERT_EQ(t.change(nullptr, &many[1]), Status::ok);
    EXPECT_EQ(t.change(&many.back(), nullptr), Status::ok) << "the one that left made room";
}

// A refused ops takes no place.
TEST(TransitionPlannerTest, ARefusedOpsIsNotAttached) {
    TenSites t;
    std::deque<Ops> many(max_attached - 1, Ops{.func = a_callback});
    for (std::uint32_t i = 1; i < many.size(); ++i) {
        ASSERT_EQ(t.change(&many[i], nullptr, i % 10, 1), Status::ok) << i;
    }
    ASSERT_EQ(t.change(&t.graph_ops, nullptr, 9), Status::ok);
    EXPECT_EQ(t.change(&t.function_ops, nullptr), Status::conflict);
    EXPECT_EQ(t.change(&many[0], nullptr), Status::ok);
}

// The patcher waits for other cores only if a request gives up an object or an ops.
TEST(TransitionPlannerTest, WaitsForReadersOfWhatIsRemoved) {
    TenSites t;
    const auto waits = [&](Ops* add, Ops* remove) {
        const unsigned before = t.synchronized;
        EXPECT_EQ(t.change(add, remove), Status::ok);
        return t.synchronized - before;
    };
    EXPECT_EQ(waits(&t.graph_ops, nullptr), 0u);
    EXPECT_EQ(waits(&t.function_ops, &t.graph_ops), 1u) << "an ops goes";
    EXPECT_EQ(waits(&t.callback_ops, nullptr), 0u);
    EXPECT_EQ(waits(&t.other_callback_ops, nullptr), 1u) << "a list is left";
    EXPECT_EQ(waits(nullptr, &t.graph_ops), 0u) << "it was not there";
    EXPECT_EQ(waits(nullptr, &t.function_ops), 1u);
}

// If the set changes but the word does not, the patcher does not touch the word's cache line.
TEST(TransitionPlannerTest, AWordThatStaysIsNotWritten) {
    TenSites t;
    ASSERT_EQ(t.change(&t.callback_ops, nullptr), Status::ok);
    const unsigned writes = t.machine.word_writes;
    t.machine.cleans.clear();
    ASSERT_EQ(t.change(&t.other_callback_ops, nullptr), Status::ok);
    EXPECT_EQ(t.machine.word_writes, writes);
    EXPECT_TRUE(t.machine.cleans.empty());
}

// A request that names a site twice changes it once.
TEST(TransitionPlannerTest, TheSameSiteTwice) {
    TenSites t;
    const auto twice = [](auto visit) { (void)(visit(3, 4) && visit(3, 5)); };
    const auto at_once = [] { return true; };
    const PerSiteOps one[] = {PerSiteOps::of(t.callback_ops)};
    ASSERT_EQ(t.change(&t.other_callback_ops, nullptr), Status::ok);
    ASSERT_EQ(t.patcher.change({.add = one[0]}, twice, at_once), Status::ok);
    EXPECT_EQ(t.callback_ops.sites, 2u);
    EXPECT_EQ(t.list(3).refs, 2u);
    ASSERT_EQ(t.change(nullptr, &t.other_callback_ops), Status::ok);
    EXPECT_EQ(t.patcher.enabled(), 2u);
    ASSERT_EQ(t.patcher.change({.remove = one}, twice, at_once), Status::ok);
    EXPECT_EQ(t.callback_ops.sites, 0u);
    EXPECT_EQ(t.patcher.enabled(), 0u);
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

}  // namespace
}  // namespace nopscope
