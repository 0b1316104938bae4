// SPDX-License-Identifier: Apache-2.0
// How the pump extends a ring's 32-bit clocks if nothing calls it for a long time.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing {
namespace {

constexpr std::uint64_t wrap = std::uint64_t{1} << 32;

class PumpClock : public PumpTest {
protected:
    // r: a call is recorded, R: 200 calls, which wait for room, (: a call that stays open, ): its
    // return, p: the pump runs, t: console text, 0 to f: idle for so many sixteenths of a wrap, W:
    // a wrap, H: 40 wraps, =: the clocks received since the last one are the true ones.
    void play(char step) {
        switch (step) {
        case 'r': return stamp(call(0x2000));
        case 'R':
            for (int i = 0; i < 200; ++i) {
                while (core.cursor >= core.limit) ASSERT_TRUE(pump.make_room());
                play('r');
            }
            return;
        case '(': return stamp(enter(0x2008, 0x9000));
        case ')': leave(); return stamp(true);
        case 'p': pump.run(); return;
        case 't': return pump.console("x", 1);
        case 'W': machine.now += wrap; return;
        case 'H': machine.now += 40 * wrap; return;
        case '=': return expect_clocks();
        default: machine.now += wrap / 16 * std::stoul(std::string(1, step), nullptr, 16);
        }
    }
    void stamp(bool recorded) {
        ASSERT_TRUE(recorded);
        clocks.push_back(machine.now);
    }
    void expect_clocks() {
        const auto events = without_own(flushed().events);
        ASSERT_EQ(events.size(), clocks.size());
        for (std::size_t i = 0; i < clocks.size(); ++i) EXPECT_EQ(events[i].clock, clocks[i]) << i;
        clocks.clear();
    }
    std::vector<std::uint64_t> clocks;
};

struct Idle {
    const char* name;
    const char* play;
    unsigned times = 1;
    Mode mode = Mode::stream;
    std::uint32_t line_rate = 0;
};
void PrintTo(const Idle& idle, std::ostream* out) { *out << idle.play; }

class PumpClockTest : public PumpClock, public ::testing::WithParamInterface<Idle> {};

TEST_P(PumpClockTest, IsExtended) {
    open(GetParam().mode, GetParam().line_rate);
    for (unsigned time = 0; time < GetParam().times; ++time)
        for (const char* step = GetParam().play; *step != 0; ++step) play(*step);
    play('=');
}
INSTANTIATE_TEST_SUITE_P(
    Idle, PumpClockTest,
    ::testing::Values(Idle{"NearlyAWrapBetweenRecordsThatNobodyPumps", "rer"},
                      Idle{"AfterThePumpForManyWraps", "rpbrrr=rpW2rrr=rpW3rrr=rpWWW9rrr=rpH3rrr="},
                      Idle{"BeforeThePumpForManyWraps", "rrr8pr=rrrWpr=rrrWWW5pr="},
                      Idle{"InACallForManyWraps", "rpr(WWWWW8)r"},
                      Idle{"WhileAnEarlierFrameWaitsForTheLine", "RpWW4R", 1, Mode::stream, 1000},
                      Idle{"LosslessWithoutAnyCallOfThePump", "Rd", 20, Mode::lossless},
                      Idle{"TheConsoleAloneKeepsTheClock", "r6t6", 12}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nopscope::testing
