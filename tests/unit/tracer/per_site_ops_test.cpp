// SPDX-License-Identifier: Apache-2.0
// PerSiteOps: each site has its own ops.
#include "tests/unit/tracer/text_fixture.hpp"

namespace nopscope {
namespace {

using testing::slot_of;
using testing::Text;

struct Counts : Ops {
    std::uint64_t calls = 0;
};

class PerSiteOpsTest : public ::testing::Test, protected Text {
protected:
    static constexpr std::uint32_t count = 40;

    PerSiteOpsTest() {
        add_many(count);
        initialise();
        for (Counts& one : members) one.direct = testing::graph_entry + 0x40;
    }
    Status attach(std::uint32_t first = 0, std::uint32_t some = count) {
        return change({.add = family}, first, some);
    }
    Status detach() { return change({.remove = std::span(&family, 1)}); }
    OpsList& list(std::uint32_t index) { return static_cast<OpsList&>(object(index)); }

    std::array<Counts, count> members;
    const PerSiteOps family = PerSiteOps::each(members.data(), count);
};

TEST_F(PerSiteOpsTest, EachSiteHasItsOwn) {
    ASSERT_EQ(attach(), Status::ok);
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(&object(i), &members[i]);
        EXPECT_EQ(word(i), bl(i, members[i].direct)) << "direct entry only";
        EXPECT_EQ(members[i].func, &testing::no_callback);
    }
    EXPECT_EQ(patcher.enabled(), count);
    EXPECT_EQ(members[0].sites, count);
    EXPECT_EQ(synchronized, 0u);
    const unsigned writes = machine.word_writes + machine.slot_writes;
    ASSERT_EQ(attach(), Status::ok);
    EXPECT_EQ(machine.word_writes + machine.slot_writes, writes) << "attached twice is once";

    ASSERT_EQ(detach(), Status::ok);
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(&object(i), &none);
        EXPECT_EQ(word(i), arch::idle_word);
    }
    EXPECT_EQ(members[0].sites, 0u);
    EXPECT_EQ(patcher.enabled(), 0u);
}

TEST_F(PerSiteOpsTest, BesideCallbacksTheListIsTheSitesOwn) {
    for (const bool family_first : {false, true}) {
        SCOPED_TRACE(family_first);
        for (Counts& one : members) one.data = &one.calls;
        if (family_first) {
            ASSERT_EQ(attach(), Status::ok);
        }
        ASSERT_EQ(change(&callback_ops, nullptr), Status::ok);
        if (!family_first) {
            ASSERT_EQ(attach(), Status::ok);
        }
        EXPECT_EQ(patcher.lists_in_use(), count);
        for (std::uint32_t i = 0; i < count; ++i) {
            Ops* const own = &members[i];
            Ops* const other = &callback_ops;
            EXPECT_EQ(ops_of(i),
                      family_first ? (std::vector{own, other}) : (std::vector{other, own}));
            EXPECT_EQ(list(i).refs, 1u);
            EXPECT_EQ(list(i).direct, own->direct);
            EXPECT_EQ(list(i).data, own->data) << "what its direct entry works on";
            EXPECT_EQ(word(i), bl(i, testing::callback_trampoline));
        }
        EXPECT_EQ(members[0].sites, count);

        ASSERT_EQ(change(&other_callback_ops, nullptr), Status::ok);
        EXPECT_EQ(patcher.lists_in_use(), count);
        ASSERT_EQ(detach(), Status::ok);
        EXPECT_EQ(patcher.lists_in_use(), 1u) << "shared again";
        EXPECT_EQ(list(7).refs, count);
        ASSERT_EQ(attach(3, 4), Status::ok);
        const PerSiteOps others[] = {PerSiteOps::of(callback_ops),
                                     PerSiteOps::of(other_callback_ops)};
        ASSERT_EQ(change({.remove = others}), Status::ok);
        EXPECT_EQ(patcher.lists_in_use(), 0u);
        EXPECT_EQ(patcher.enabled(), 4u);
        EXPECT_EQ(&object(4), &members[4]);
        ASSERT_EQ(detach(), Status::ok);
        EXPECT_EQ(patcher.enabled(), 0u);
    }
}

// This member belongs to another site.
TEST_F(PerSiteOpsTest, AMemberOfAnotherSiteIsUnexpected) {
    ASSERT_EQ(attach(), Status::ok);
    machine.write_slot(placed[20].slot(), slot_of(members[21]));
    EXPECT_EQ(change(&callback_ops, nullptr), Status::unexpected_text);
    EXPECT_EQ(patcher.last_error().address, placed[20].slot());
    EXPECT_EQ(callback_ops.sites, 0u);
    machine.write_slot(placed[20].slot(), slot_of(members[20]));
    EXPECT_EQ(change(&callback_ops, nullptr), Status::ok);
}

}  // namespace
}  // namespace nopscope
