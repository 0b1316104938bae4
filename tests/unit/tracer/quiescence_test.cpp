// SPDX-License-Identifier: Apache-2.0
// Which cores synchronize() waits for, depending on where its calls find them.
#include "tracer/patching/quiescence.hpp"

#include "tests/verification/simulator/sim_machine.hpp"

#include <gtest/gtest.h>

namespace nopscope::quiescence_test {

// The calls find core 1 at these places, one after the other, and then always at the last one.
struct Found : sim::SimMachine {
    explicit Found(std::vector<Interrupted> found) : SimMachine(0, 64), places(std::move(found)) {}
    bool run_on_other_cores(CoreCall call, void* argument) {
        if (calls == 1 && guard_of_second_call != nullptr) *guard_of_second_call = 0;
        call(argument, places[calls < places.size() ? calls : places.size() - 1]);
        ++calls;
        return true;
    }
    std::uint32_t online_cores() const { return calls == 0 ? online : online_behind_first_call; }
    std::vector<Interrupted> places;
    std::size_t calls = 0;
    std::uint32_t online = 3, online_behind_first_call = 3;
    std::uint64_t* guard_of_second_call = nullptr;  // the second call takes this guard
};

using Code = CodeRange;

struct QuiescenceTest : ::testing::Test {
    QuiescenceTest() {
        asked = inside = 0;
        for (Core& core : cores)
            for (std::uint64_t& guard : core.guards) guard = 1;
    }
    bool wait(Found& machine, std::span<const Code> unguarded = {}) {
        return Quiescence<Found>(machine, cores, unguarded, await_contexts)
            .wait(machine.now + 1000, [&] { ++waits; });
    }
    // Returns how many calls the wait makes until it ends; 0: it never ends.
    std::size_t calls(std::vector<Interrupted> places, std::span<const Code> unguarded) {
        Found machine(std::move(places));
        asked = 0;
        return wait(machine, unguarded) ? machine.calls : 0;
    }
    // A task is inside until it has been asked this many times.
    static bool await_contexts(bool first_time) {
        EXPECT_EQ(first_time, asked == 0);
        return asked++ < inside;
    }
    const Code code[1] = {{0x1000, 0x1040}};
    Core cores[2]{};
    unsigned waits = 0;
    static unsigned asked, inside;
};
unsigned QuiescenceTest::asked, QuiescenceTest::inside;

TEST_F(QuiescenceTest, WaitsForUnguardedCodeAndFrames) {
    const Code both[] = {{0x1000, 0x1040}, {0x3000, 0x3080}};
    EXPECT_EQ(calls({{1, 0x2000, 0}}, both), 1u);
    EXPECT_EQ(calls({{1, 0x1000, 0}, {1, 0x307c, 0}, {1, 0x3080, 0}}, both), 3u);
    EXPECT_EQ(calls({{1, 0x3000, 0}}, both), 0u);
    EXPECT_EQ(calls({{1, 0x3000, 0}}, {both, 1}), 1u);
    // A handler may be above such code.
    EXPECT_EQ(calls({{1, 0x2000, 1}, {1, 0x2000, 0}}, code), 2u);
    EXPECT_EQ(calls({{1, 0x2000, 1}}, {}), 1u);
    cores[1].unguarded = 0x8000;
    EXPECT_EQ(calls({{1, 0x2000, 0}}, {}), 0u);
}

TEST_F(QuiescenceTest, WaitsForTheGuardsOfAllDepthsAndNoLonger) {
    for (const unsigned depth : {0u, 1u, max_interrupt_depth - 1}) {
        Found never({{1, 0x2000, 0}}), free({{1, 0x2000, 0}});
        cores[1].guards[depth] = 0;
        EXPECT_FALSE(wait(never)) << depth;
        asked = 0;
        unsigned looks = 0;  // how often the wait read the clock
        free.on_clock = [&] {
            if (++looks == 10) cores[1].guards[depth] = 1;
        };
        EXPECT_TRUE(wait(free)) << depth;
        EXPECT_GE(looks, 10u);
    }
}

TEST_F(QuiescenceTest, WaitsForTasksThatWerePreemptedInside) {
    Found machine({{1, 0x2000, 0}});
    inside = 5;
    EXPECT_TRUE(wait(machine));
    EXPECT_EQ(asked, 6u);
    EXPECT_EQ(waits, 4u);
    asked = 0;
    inside = ~0u;
    EXPECT_FALSE(wait(machine)) << "it may never run again";
}

// A core that takes a guard after the first call finds the new object.
TEST_F(QuiescenceTest, LaterGuardsAreOfNoInterest) {
    Found machine({{1, 0x1000, 0}, {1, 0x2000, 0}});
    machine.guard_of_second_call = &cores[1].guards[0];
    EXPECT_TRUE(wait(machine, code));
    EXPECT_EQ(machine.calls, 2u);
}

TEST_F(QuiescenceTest, NotForCoresThatGoOffOrNeverRunTracedCode) {
    Found off({{1, 0x1000, 0}});
    off.online_behind_first_call = 1;
    EXPECT_TRUE(wait(off, code));
    EXPECT_EQ(off.calls, 1u);
    asked = 0;
    Found strangers({{1, 0x2000, 0}});
    strangers.online = strangers.online_behind_first_call = 0b1111;
    EXPECT_TRUE(wait(strangers));
    EXPECT_EQ(strangers.calls, 1u);
}

}  // namespace nopscope::quiescence_test
