// SPDX-License-Identifier: Apache-2.0
// What is arm64's own: its words, their reach, its cache maintenance, and the hooks' two forms.
#include "tests/unit/tracer/assemble.hpp"
#include "tests/unit/tracer/text_fixture.hpp"
#include "tracer/arch/arm64/hook_forms.hpp"

namespace nopscope::testing::arm64_text_test {

TEST(Instructions, AgreeWithTheAssembler) {
    const std::int64_t offsets[] = {0,     4,         -4,        64,        -64,        0x1000,
                                    -4096, 0x1234564, -0x123450, 0x7fffffc, -0x8000000, 0x4000000};
    std::string source = "nop\nbti c\nmov x9, x30\n";
    for (const std::int64_t offset : offsets) source += "bl . + (" + std::to_string(offset) + ")\n";
    const std::vector<std::uint32_t> words = assemble(NOPSCOPE_ARM64, "-march=armv8.5-a", source);
    ASSERT_EQ(words.size(), 3 + std::size(offsets));
    EXPECT_EQ(tuple(words[0], words[1], words[2]),
              tuple(arch::idle_word, arch::landing_pad, arch::save_link));
    constexpr std::uint64_t at = 0x4020'0000;
    for (std::size_t i = 0; i < std::size(offsets); ++i) {
        EXPECT_EQ(arch::call_at(at, at + static_cast<std::uint64_t>(offsets[i])), words[3 + i])
            << offsets[i];
    }
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
            EXPECT_EQ(text.word(i), text.call(i, far ? far_trampoline : text.far_ops.direct)) << i;
        }
        EXPECT_TRUE(text.patcher.uses_far());
        ASSERT_EQ(text.change(nullptr, &text.far_ops), Status::ok);
        EXPECT_EQ(text.patcher.enabled(), 0u);
    }
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
                EXPECT_EQ(text.word(i), text.call(i, function_entry)) << i;
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

}  // namespace nopscope::testing::arm64_text_test
