// SPDX-License-Identifier: Apache-2.0
// Whom synchronize() waits for, by where its calls find a core.
#include "tracer/quiescence.hpp"

#include "tests/sim/sim_machine.hpp"

#include <gtest/gtest.h>

namespace nopscope {
namespace {

// Core 1 is found at these places, one after the other, then at the last.
struct Found : sim::SimMachine {
    explicit Found(std::vector<Interrupted> found) : SimMachine(0, 64), places(std::move(found)) {}
    bool run_on_other_cores(CoreCall call, void* argument) {
        call(argument, places[calls < places.size() ? calls : places.size() - 1]);
        ++calls;
        return true;
    }
    std::vector<Interrupted> places;
    std::size_t calls = 0;
};

using Code = Quiescence<Found>::Code;

class QuiescenceTest : public ::testing::Test {
protected:
    QuiescenceTest() {
        for (Core& core : cores) {
            for (std::uint64_t& guard : core.guards) guard = 1;
        }
    }
    // Of calls until it is content; 0: it never is.
    std::size_t calls(std::vector<Interrupted> places, std::span<const Code> unmarked) {
        Found machine(std::move(places));
        return Quiescence<Found>(machine, cores, unmarked).wait(machine.now + 1000) ? machine.calls : 0;
    }
    Core cores[2]{};
};

TEST_F(QuiescenceTest, WaitsForEachUnmarkedPieceOfCode) {
    const Code both[] = {{0x1000, 0x1040}, {0x3000, 0x3080}};
    EXPECT_EQ(calls({{1, 0x2000, 0}}, both), 1u);
    EXPECT_EQ(calls({{1, 0x1000, 0}, {1, 0x307c, 0}, {1, 0x3080, 0}}, both), 3u);
    EXPECT_EQ(calls({{1, 0x3000, 0}}, both), 0u);
    EXPECT_EQ(calls({{1, 0x3000, 0}}, {both, 1}), 1u);
}

TEST_F(QuiescenceTest, WaitsForAHandlerThatMayBeAboveSuchCode) {
    const Code code[] = {{0x1000, 0x1040}};
    EXPECT_EQ(calls({{1, 0x2000, 1}, {1, 0x2000, 0}}, code), 2u);
    EXPECT_EQ(calls({{1, 0x2000, 1}}, {}), 1u);
}

TEST_F(QuiescenceTest, WaitsForAnOpenUnguardedFrame) {
    cores[1].unguarded = 0x8000;
    EXPECT_EQ(calls({{1, 0x2000, 0}}, {}), 0u);
}

}  // namespace
}  // namespace nopscope
