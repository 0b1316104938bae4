// SPDX-License-Identifier: Apache-2.0
// How the pump extends a ring's 32-bit clocks if nothing calls it for a long time.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope {
namespace {

using namespace testing;

class PumpClockTest : public PumpTest {
protected:
    static constexpr std::uint64_t wrap = std::uint64_t{1} << 32;

    void idle(std::uint64_t ticks) { machine.now += ticks; }
    void stamped_call() {
        ASSERT_TRUE(call(0x2000));
        clocks.push_back(machine.now);
    }
    // Compares the clocks received since the last call with the true ones.
    void expect_clocks() {
        pump.flush();
        const auto events = without_own(receive().events);
        ASSERT_EQ(events.size(), clocks.size());
        for (std::size_t i = 0; i < clocks.size(); ++i) EXPECT_EQ(events[i].clock, clocks[i]) << i;
        clocks.clear();
    }
    std::vector<std::uint64_t> clocks;
};

TEST_F(PumpClockTest, NearlyAWrapBetweenRecordsThatNobodyPumps) {
    open();
    stamped_call();
    idle(wrap / 16 * 14);
    stamped_call();
    expect_clocks();
}

TEST_F(PumpClockTest, IdleAfterThePumpForManyWraps) {
    open();
    for (const std::uint64_t ticks :
         {wrap / 2, wrap / 16 * 15, wrap, 3 * wrap + wrap / 3, 40 * wrap}) {
        stamped_call();
        pump.run();
        idle(ticks + wrap / 5);
        for (int i = 0; i < 10; ++i) stamped_call();
        expect_clocks();
    }
}

TEST_F(PumpClockTest, IdleBeforeThePumpForManyWraps) {
    open();
    for (const std::uint64_t ticks : {wrap / 2, wrap, 3 * wrap + wrap / 3}) {
        for (int i = 0; i < 10; ++i) stamped_call();
        idle(ticks);
        pump.run();
        stamped_call();
        expect_clocks();
    }
}

TEST_F(PumpClockTest, IdleInACallForManyWraps) {
    open();
    stamped_call();
    pump.run();
    stamped_call();
    enter(0x2008, 0x9000);
    clocks.push_back(machine.now);
    idle(5 * wrap + wrap / 2);
    leave();
    clocks.push_back(machine.now);
    stamped_call();
    expect_clocks();
}

TEST_F(PumpClockTest, IdleWhileAnEarlierFrameWaitsForTheLine) {
    open(Mode::stream, 1000);
    for (int i = 0; i < 200; ++i) stamped_call();
    pump.run();
    ASSERT_LT(core.tail, core.cursor);
    idle(2 * wrap + wrap / 4);
    for (int i = 0; i < 200; ++i) stamped_call();
    expect_clocks();
}

TEST_F(PumpClockTest, LosslessWithoutAnyCallOfThePump) {
    open(Mode::lossless);
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 200; ++i) {
            while (core.cursor >= core.limit) ASSERT_TRUE(pump.make_room());
            stamped_call();
        }
        idle(wrap / 16 * 13);
    }
    expect_clocks();
}

TEST_F(PumpClockTest, TheConsoleAloneKeepsTheClock) {
    open();
    for (int round = 0; round < 12; ++round) {
        stamped_call();
        idle(wrap / 8 * 3);
        pump.console("x", 1);
        idle(wrap / 8 * 3);
    }
    expect_clocks();
}

}  // namespace
}  // namespace nopscope
