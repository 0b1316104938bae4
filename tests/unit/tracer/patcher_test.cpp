// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/text_fixture.hpp"
#include "tests/verification/simulator/sim_machine.hpp"
#include "tracer/arch/arm64/hook_forms.hpp"

namespace nopscope::testing::patcher_test {

TEST(Initialise, RefusesByReasonAndLeavesTheWordsAlone) {
    Text text;
    const PatchSite good = text.add(text_base + 0x100, true);
    const PatchSite misaligned = text.add(text_base + 0x144, true);
    const PatchSite misaligned_bare = text.add(text_base + 0x184, false);
    const PatchSite outside = text.add(text_base + 0x3100, true);
    const PatchSite first{text_base, false};  // its slot would be below the text
    text.entries.push_back(first.slot());
    const PatchSite slot = text.add(text_base + 0x200, true);
    text.machine.load(slot.slot() + 4, 0xd65f03c0);
    const PatchSite mov = text.add(text_base + 0x240, true);
    text.machine.load(mov.setup(), 0xd503233f);
    const PatchSite toggle = text.add(text_base + 0x280, false);
    text.machine.load(toggle.toggle(), 0xd503233f);

    const Refusals refused = text.initialise();
    EXPECT_EQ(tuple(refused.misaligned, refused.outside, refused.words, text.machine.word_writes,
                    text.machine.slot_writes),
              tuple(2u, 2u, 3u, 1u, 1u));
    EXPECT_TRUE(text.sites.find(good.function));
    for (const unsigned core : {0u, 1u})
        EXPECT_EQ(text.machine.fetch(core, good.setup()), arch::save_link);
    for (const PatchSite& site : {misaligned, misaligned_bare, outside, first, slot, mov, toggle})
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

// The entry is in reach of either the upper or the lower half of the sites only.
TEST(Change, SomeThroughTheFarTrampoline) {
    for (const bool upper : {true, false}) {
        IdleSites text(40);
        const Address border = text.placed[20].toggle();
        text.far_ops.direct = upper ? border + arch::call_reach - 4 : border - arch::call_reach;
        ASSERT_EQ(text.change(&text.far_ops, nullptr), Status::ok);
        for (std::uint32_t i = 0; i < 40; ++i) {
            const bool far = upper ? i < 20 : i > 20;
            EXPECT_EQ(text.word(i), text.bl(i, far ? far_trampoline : text.far_ops.direct)) << i;
        }
        EXPECT_TRUE(text.patcher.uses_far());
        ASSERT_EQ(text.change(nullptr, &text.far_ops), Status::ok);
        EXPECT_EQ(text.patcher.enabled(), 0u);
    }
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

TEST(Maintenance, EachTouchedLineOnceAndNoOther) {
    for (const std::size_t line : {16u, 32u, 64u, 128u}) {
        for (const std::size_t icache_line : {16u, 64u, 128u}) {
            IdleSites text(100, {.line_bytes = line, .icache_line_bytes = icache_line});
            text.machine.cleans.clear();
            text.machine.invalidates.clear();
            ASSERT_EQ(text.change(&text.function_ops, nullptr), Status::ok);
            const auto expect_touched = [&](const std::map<Address, unsigned>& counts,
                                            std::size_t bytes) {
                std::set<Address> touched;
                for (const PatchSite& site : text.placed)
                    touched.insert(site.toggle() & ~(bytes - 1));
                for (const auto& [address, count] : counts) {
                    EXPECT_EQ(touched.erase(address), 1u) << line << ", " << icache_line;
                    // A line in two batches of 64 ranges is maintained in both.
                    EXPECT_LE(count, 2u);
                }
                EXPECT_TRUE(touched.empty()) << line << ", " << icache_line;
            };
            expect_touched(text.machine.cleans, line);
            expect_touched(text.machine.invalidates, icache_line);
            // One batch cannot hold the ranges of short lines. All changes must still be visible.
            for (std::uint32_t i = 0; i < 100; ++i)
                EXPECT_EQ(text.word(i), text.bl(i, function_entry)) << i;
        }
    }
}

// By CTR_EL0 the CPU needs both sides, one of them, or none.
TEST(Maintenance, OnlyOfTheSidesThatTheCpuNeeds) {
    for (const bool idc : {false, true}) {
        for (const bool dic : {false, true}) {
            IdleSites text(20, {.cores = 3, .idc = idc, .dic = dic});
            ASSERT_EQ(text.change(&text.graph_ops, nullptr), Status::ok);
            EXPECT_EQ(text.machine.cleans.empty(), idc);
            EXPECT_EQ(text.machine.invalidates.empty(), dic);
            for (const PatchSite& site : text.placed) {
                for (unsigned core = 0; core < 3; ++core) {
                    EXPECT_EQ(text.machine.fetch(core, site.toggle()),
                              *arch::call_at(site.toggle(), graph_entry));
                }
            }
        }
    }
}

// ---- The direct and the indirect form of the hooks, in simulated text.

constexpr Address base = 0x4020'0000;
constexpr std::uint32_t bl_over_one = 0x94000002, b_over_one = 0x14000002, brk = 0xd4200000;
constexpr std::uint32_t ret_x9 = 0xd65f0120, br_x9 = 0xd61f0120, ret_x11 = 0xd65f0160,
                        br_x11 = 0xd61f0160;
constexpr std::uint32_t other = 0x910003e9;

struct HookForms : ::testing::Test {
    static constexpr struct {
        unsigned at;
        std::uint32_t assembled, indirect;
    } text[] = {{0x80, bl_over_one, b_over_one},  {0x84, brk, brk},  {0xf4, ret_x9, br_x9},
                {0x100, bl_over_one, b_over_one}, {0x104, brk, brk}, {0x140, ret_x9, br_x9},
                {0x340, ret_x11, br_x11}};
    // Two hooks in three cache lines, and the returns of the slow paths.
    void load(sim::SimMachine& machine) {
        for (Address at = base; at < base + 0x400; at += 4) machine.load(at, other);
        for (const auto& word : text) machine.load(base + word.at, word.assembled);
    }
    bool make_indirect(sim::SimMachine& machine) {
        return arch::adapt_hooks(machine, [this](auto visit) {
            for (const Address word : words) visit(word);
        });
    }
    std::vector<Address> words{base + 0x340, base + 0x80, base + 0xf4, base + 0x100, base + 0x140};
};

TEST_F(HookForms, EveryCoreFetchesTheIndirectForm) {
    for (const bool idc : {false, true}) {
        sim::SimMachine machine(base, 0x400, {.idc = idc});
        load(machine);
        ASSERT_TRUE(make_indirect(machine));
        for (const auto& word : text)
            for (const unsigned core : {0u, 1u})
                EXPECT_EQ(machine.fetch(core, base + word.at), word.indirect) << word.at;
        EXPECT_EQ(machine.word_writes, words.size());
    }
}
TEST_F(HookForms, AWordThatIsNotAsAssembledLeavesAllAsTheyAre) {
    sim::SimMachine machine(base, 0x400);
    load(machine);
    words.push_back(base + 0x180);
    EXPECT_FALSE(make_indirect(machine));
    EXPECT_EQ(machine.word_writes, 0u);
    EXPECT_EQ(machine.fetch(0, base + 0x80), bl_over_one);
    // Nor does it change words twice.
    words.pop_back();
    ASSERT_TRUE(make_indirect(machine));
    EXPECT_FALSE(make_indirect(machine));
    EXPECT_EQ(machine.word_writes, words.size());
}

}  // namespace nopscope::testing::patcher_test
