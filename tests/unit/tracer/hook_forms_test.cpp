// SPDX-License-Identifier: Apache-2.0
// The direct and the indirect form of the hooks, in simulated text.
#include "tracer/arch/arm64/hook_forms.hpp"

#include "tests/verification/simulator/sim_machine.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nopscope {
namespace {

constexpr Address base = 0x4020'0000;
constexpr std::uint32_t bl_over_one = 0x94000002, b_over_one = 0x14000002, brk = 0xd4200000;
constexpr std::uint32_t ret_x9 = 0xd65f0120, br_x9 = 0xd61f0120, ret_x11 = 0xd65f0160,
                        br_x11 = 0xd61f0160;
constexpr std::uint32_t other = 0x910003e9;

struct HookForms : ::testing::Test {
    // Two hooks in three cache lines, and the returns of the slow paths.
    void load(sim::SimMachine& machine) {
        for (Address at = base; at < base + 0x400; at += 4) machine.load(at, other);
        for (const Address hook : {base + 0x80, base + 0x100}) {
            machine.load(hook, bl_over_one);
            machine.load(hook + 4, brk);
        }
        machine.load(base + 0xf4, ret_x9);
        machine.load(base + 0x140, ret_x9);
        machine.load(base + 0x340, ret_x11);
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
        for (const unsigned core : {0u, 1u}) {
            for (const Address hook : {base + 0x80, base + 0x100}) {
                EXPECT_EQ(machine.fetch(core, hook), b_over_one);
                EXPECT_EQ(machine.fetch(core, hook + 4), brk);
            }
            EXPECT_EQ(machine.fetch(core, base + 0xf4), br_x9);
            EXPECT_EQ(machine.fetch(core, base + 0x140), br_x9);
            EXPECT_EQ(machine.fetch(core, base + 0x340), br_x11);
        }
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

}  // namespace
}  // namespace nopscope
