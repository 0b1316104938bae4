// SPDX-License-Identifier: Apache-2.0
// Lossless mode: code that finds the ring full pumps until there is room, or waits for it.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing {
namespace {

using protocol::Extended;
using protocol::Kind;

using PumpRoom = PumpTest;

TEST_F(PumpRoom, LosslessMakesRoom) {
    open(Mode::lossless);
    for (unsigned made = 0; made < 5000; ++made)
        while (!call(0x2000)) ASSERT_TRUE(pump.make_room());
    const Received received = finished();
    EXPECT_EQ(without_own(received.events).size(), 5000u);
    EXPECT_EQ(received.stats.back().dropped, 0u);
    EXPECT_EQ(received.stats.back().generated, received.stats.back().delivered);
}

TEST_F(PumpRoom, AFullRingHasRoomForMarks) {
    for (const Mode mode : {Mode::stream, Mode::lossless, Mode::adaptive}) {
        for (const std::uint32_t pace : {0u, 5'000u, 300'000u}) {
            open(mode, pace);
            fill();
            for (unsigned id = 0; id < 32; ++id) ASSERT_TRUE(mark(id)) << pace;
            pump.finish();
        }
    }
}

// A ring that overwrites its records is no longer full, but nothing empties it.
TEST_F(PumpRoom, FlightModeEndsTheWaitForRoom) {
    static Pump<sim::SimMachine>* the_pump;
    the_pump = &pump;
    // As on another core.
    open(Mode::lossless, 0, [](std::uint8_t) { return the_pump->set_mode(Mode::flight); });
    fill();
    EXPECT_TRUE(pump.make_room());
    EXPECT_TRUE(call(0x2000));
}

TEST_F(PumpRoom, RoomIsMadeInTheTracersTimeFromWhereTheRecorderCameOn) {
    open(Mode::lossless);
    fill();
    const Moment began = moment(machine, core);
    machine.now += 1000;
    ASSERT_TRUE(pump.make_room(began, 21));
    pump.finish();
    std::vector<protocol::Event> own;
    for (const protocol::Event& event : receive().events)
        if (event.kind == Kind::extended && event.extended != Extended::sync) own.push_back(event);
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].extended, Extended::tracer_begin);
    EXPECT_EQ(own[0].clock, began.clock);
    EXPECT_EQ(own[0].argument, 21u);
    EXPECT_EQ(own[1].extended, Extended::tracer_end);
    EXPECT_GT(own[1].argument, 0u);
}

// The transmitter takes a byte when the firmware has been told often enough that the tracer waits.
unsigned waits;
bool write_if_waited_for(std::uint8_t byte) { return waits % 3 == 0 && try_write(byte); }

TEST_F(PumpRoom, TheFirmwareIsToldOfEachWait) {
    config.while_waiting = [] { ++waits; };
    open(Mode::lossless, 0, write_if_waited_for);
    waits = 1;
    fill();
    EXPECT_TRUE(pump.make_room());
    const unsigned for_room = waits;
    EXPECT_GT(for_room, 1u);
    const std::string text(100'000, 'x');  // more than the console's buffer holds
    ++waits;
    pump.console(text.data(), text.size());
    const unsigned for_the_console = waits;
    EXPECT_GT(for_the_console, for_room);
    const Received received = finished();
    EXPECT_EQ(received.console, text);
    EXPECT_EQ(received.stats.back().dropped, 0u);
}

// A recorded interrupt ends the brackets. On top of the work, a kernel runs behind it, and its
// calls find the ring full, too.
TEST_F(PumpRoom, WorkInStepsGoesOnBehindAnInterrupt) {
    static Core* interrupted;
    static sim::SimMachine* on;
    interrupted = &core;
    on = &machine;
    config.while_waiting = [] {
        if (++waits != 8) return;
        EXPECT_EQ(interrupted->tracer_marked, 2u);
        EXPECT_TRUE(put_own(*on, *interrupted, Extended::tracer_end));
        interrupted->tracer_marked = 0;
        on->now += 1000;
        {
            const TracerWork kernel(*on, std::span(interrupted, 1),
                                    TracerWork<sim::SimMachine>::Mark::whole);
        }
        EXPECT_EQ(interrupted->tracer_marked, 0u);
    };
    open(Mode::lossless, 0, write_if_waited_for);
    waits = 1;
    fill();
    EXPECT_TRUE(pump.make_room());
    EXPECT_GT(waits, 8u);
    const Received received = finished();
    EXPECT_EQ(brackets(received), "<><><>");
    std::vector<std::uint32_t> before;
    for (const protocol::Event& event : received.events)
        if (is(event, Extended::tracer_begin)) before.push_back(event.argument);
    EXPECT_EQ(before[1], 0u);
    EXPECT_GT(before[2], 0u);  // instructions since the interrupt's end
}

TEST_F(PumpRoom, LosslessGivesUpBehindAnInterruptedRecorder) {
    open(Mode::lossless);
    core.cursor += record_bytes;  // the claim of the interrupted recorder, at the tail
    fill();
    EXPECT_FALSE(pump.make_room());
}

}  // namespace
}  // namespace nopscope::testing
