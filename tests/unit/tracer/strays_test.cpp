// SPDX-License-Identifier: Apache-2.0
// Calls that return while another context runs.
#include "tests/unit/tracer/core_fixture.hpp"

namespace nopscope {
namespace {

constexpr std::uint64_t hook = 0x4000, other_hook = 0x5000;

ShadowFrame frame_of(std::uint64_t sp, std::uint64_t return_address, std::uint64_t of = hook) {
    return {return_address, sp, of, 0, {}};
}

class Strays : public testing::CoreTest {
protected:
    Strays() { core.graves = reinterpret_cast<std::uintptr_t>(graves.data()); }
    std::vector<Grave> graves = std::vector<Grave>(max_graves);
};

TEST_F(Strays, TheNewestGraveOfAnSpAndAHookIsTheRightOne) {
    bury(core, frame_of(0x8000, 1));
    bury(core, frame_of(0x8000, 3));
    bury(core, frame_of(0x8000, 2, other_hook));
    bury(core, frame_of(0x9000, 4));
    EXPECT_EQ(exhume(core, 0x7000, hook), 0u);
    EXPECT_EQ(core.stack_low, 0u);  // no call has shown yet that there are several stacks
    EXPECT_EQ(exhume(core, 0x8000, hook), 3u);
    EXPECT_EQ(core.stack_low, ~std::uint64_t{0});
    EXPECT_EQ(exhume(core, 0x8000, other_hook), 2u);
    EXPECT_EQ(exhume(core, 0x9000, hook), 4u);
    EXPECT_EQ(exhume(core, 0x9000, hook), 0u);  // only once
}

TEST_F(Strays, OldGravesMakeRoom) {
    for (std::uint64_t n = 0; n < max_graves + 3; ++n) bury(core, frame_of(0x1000 + 16 * n, n + 1));
    for (std::uint64_t n = 0; n < max_graves + 3; ++n)
        EXPECT_EQ(exhume(core, 0x1000 + 16 * n, hook), n < 3 ? 0 : n + 1) << n;
}

TEST_F(Strays, WithoutMemoryForGravesThereAreNone) {
    core.graves = 0;
    bury(core, frame_of(0x8000, 1));
    EXPECT_EQ(exhume(core, 0x8000, hook), 0u);
}

TEST_F(Strays, TakesTheInnermostOfATailCallFirst) {
    ShadowFrame frames[] = {frame_of(0x9000, 1), frame_of(0x8000, 2), frame_of(0x8000, hook),
                            frame_of(0x7000, 4), frame_of(free_frame_sp, 5)};
    EXPECT_EQ(take_stray(frames, 0x8000, other_hook), 0u);
    EXPECT_EQ(take_stray(frames, 0x8000, hook), hook);
    EXPECT_EQ(take_stray(frames, 0x8000, hook), 2u);
    EXPECT_EQ(take_stray(frames, 0x8000, hook), 0u);
    EXPECT_EQ(frames[0].sp, 0x9000u);
    EXPECT_EQ(frames[3].sp, 0x7000u);
}

// The next call or return closes marked frames like those that longjmp left. It does not bury them.
TEST_F(Strays, AMarkedFrameIsDeadToTheNextCall) {
    enter(0x2000, 0x9000, 0x111);
    enter(0x2008, 0x8000, 0x222);
    enter(0x2010, 0x7000, 0x333);
    EXPECT_EQ(take_stray(memory[0].frames, 0x7000, hook_address(Hook::graph)), 0x333u);
    EXPECT_EQ(take_stray(memory[0].frames, 0x8000, hook_address(Hook::graph)), 0x222u);
    EXPECT_FALSE(has_open(core, 0x8000));
    EXPECT_TRUE(has_open(core, 0x9000));
    const std::uint64_t records = core.cursor;
    unwind(machine, core, 0x6000, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.cursor, records + 2 * record_bytes);  // the returns of both calls
    EXPECT_EQ(core.buried, 0u);
    leave();
    EXPECT_EQ(depth(), 0u);
}

// Two stacks use one shadow stack, and the tracer is not told. For any order of the stacks it finds
// each call's return address.
TEST_F(Strays, CallsOfTwoStacksAllFindTheirReturnAddress) {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
        std::uint64_t state = seed;
        const auto next = [&](std::uint64_t bound) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            return (state >> 33) % bound;
        };
        core.stack_low = 0;
        std::vector<std::uint64_t> open[2];  // return addresses, by stack
        const auto sp_of = [&](unsigned stack) {
            return 0x8000 + 0x4000 * stack - 16 * open[stack].size();
        };
        std::uint64_t address = 0x100000;
        const auto end_one = [&](unsigned stack) {
            const std::uint64_t expected = open[stack].back();
            open[stack].pop_back();
            const std::uint64_t sp = sp_of(stack);
            if (has_open(core, sp)) {
                unwind(machine, core, sp, false);
                ASSERT_EQ(top_frame(core)->sp, sp);
                EXPECT_EQ(top_frame(core)->return_address, expected);
                leave();
            } else {
                EXPECT_EQ(exhume(core, sp, hook_address(Hook::graph)), expected);
            }
        };
        for (unsigned step = 0; step < 60; ++step) {
            const auto stack = static_cast<unsigned>(next(2));
            if (next(2) == 0 && !open[stack].empty()) {
                end_one(stack);
            } else if (core.stack_low == 0) {
                address += 4;
                ASSERT_TRUE(enter(0x2000, sp_of(stack), address));
                open[stack].push_back(address);
            }
        }
        for (const unsigned stack : {0u, 1u})
            while (!open[stack].empty()) end_one(stack);
        unwind(machine, core, stack_high - 1, true);
    }
}

}  // namespace
}  // namespace nopscope
