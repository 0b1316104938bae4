// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/text_fixture.hpp"
#include "tests/verification/simulator/sim_machine.hpp"

namespace nopscope::testing::patcher_test {

TEST(Initialise, RefusesByReasonAndLeavesTheWordsAlone) {
    Text text;
    const PatchSite good = text.add(text_base + 0x100, true);
    const PatchSite misaligned = text.add(text_base + 0x144, true);
    const PatchSite misaligned_bare = text.add(text_base + 0x184, false);
    text.machine.load(misaligned_bare.slot() - 4, unset_word);  // padding in front may be NOPs, too
    const PatchSite outside = text.add(text_base + 0x3100, true);
    const PatchSite first = site_at(text_base, false);  // its slot would be below the text
    text.entries.push_back(first.slot());
    const PatchSite slot = text.add(text_base + 0x200, true);
    text.machine.load(slot.slot() + 4, other_instruction);
    const PatchSite setup = text.add(text_base + 0x240, true);
    text.machine.load(setup.setup(), other_instruction);
    const PatchSite toggle = text.add(text_base + 0x280, false);
    text.machine.load(toggle.toggle(), other_instruction);

    const Refusals refused = text.initialise();
    EXPECT_EQ(tuple(refused.misaligned, refused.outside, refused.words, text.machine.word_writes,
                    text.machine.slot_writes),
              tuple(2u, 2u, 3u, words_at_boot, 1u));
    EXPECT_TRUE(text.sites.find(good.function));
    for (const unsigned core : {0u, 1u})
        EXPECT_EQ(text.machine.fetch(core, good.setup()), good.setup_word());
    for (const PatchSite& site : {misaligned, misaligned_bare, outside, first, slot, setup, toggle})
        EXPECT_FALSE(text.sites.find(site.function)) << std::hex << site.function;
    // A refused site is never patched later.
    EXPECT_EQ(text.change(&text.graph_ops, nullptr), Status::ok);
    EXPECT_EQ(text.patcher.enabled(), 1u);
}

// Not even the trampoline is in reach.
TEST(Change, OutOfReachChangesNothing) {
    IdleSites text(2);
    const unsigned writes = text.writes();
    text.patcher.set_trampolines({callback_trampoline, unguarded_trampoline, far_entry});
    EXPECT_EQ(text.change(&text.far_ops, nullptr), Status::out_of_reach);
    EXPECT_EQ(text.writes(), writes);
    EXPECT_EQ(text.far_ops.sites, 0u);
    EXPECT_EQ(text.change(&text.graph_ops, nullptr), Status::ok);
}

// A machine that reports a core which took no interrupt. The request takes effect and names the
// core. Nothing that this core may still use is reused before the core was seen outside.
TEST(Change, ACoreThatDoesNotComeIsSaid) {
    IdleSites text(4);
    text.machine.loses_calls = true;
    EXPECT_EQ(text.change(&text.function_ops, nullptr), Status::timeout);
    const unsigned before = text.synchronized;
    text.machine.loses_calls = false;
    for (const unsigned request : {1u, 2u}) {
        EXPECT_EQ(text.change(&text.function_ops, nullptr), Status::ok);
        EXPECT_EQ(text.synchronized, before + 1)
            << "request " << request << " changes nothing; the first waits for the core";
    }
}

TEST(Maintenance, ACoreThatDoesNotComeIsSaidForAllBatches) {
    IdleSites text(4);
    Maintenance<sim::SimMachine> maintenance(text.machine);
    text.machine.loses_calls = true;
    maintenance.note(text.placed[0].toggle());
    EXPECT_FALSE(maintenance.finish());
    text.machine.loses_calls = false;
    maintenance.note(text.placed[1].toggle());
    EXPECT_FALSE(maintenance.finish());
    EXPECT_TRUE(Maintenance<sim::SimMachine>(text.machine).finish());
}

}  // namespace nopscope::testing::patcher_test
