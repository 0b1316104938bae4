// SPDX-License-Identifier: Apache-2.0
// Lossless mode: code that finds the ring full pumps until there is room, or waits for it.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope {
namespace {

using protocol::Extended;
using protocol::Kind;
using namespace testing;

using PumpRoom = PumpTest;

TEST_F(PumpRoom, LosslessMakesRoom) {
    open(Mode::lossless);
    unsigned made = 0;
    for (; made < 5000; ++made) {
        while (!call(0x2000)) ASSERT_TRUE(pump.make_room());
    }
    pump.finish();
    const Received received = receive();
    EXPECT_EQ(without_own(received.events).size(), made);
    EXPECT_EQ(received.stats.back().dropped, 0u);
    EXPECT_EQ(received.stats.back().generated, received.stats.back().delivered);
}

// A ring that overwrites its records is no longer full, but nothing empties it.
TEST_F(PumpRoom, FlightModeEndsTheWaitForRoom) {
    static Pump<sim::SimMachine>* the_pump;
    the_pump = &pump;
    open(Mode::lossless);
    config.output.try_write = [](std::uint8_t) {
        return the_pump->set_mode(Mode::flight);
    };  // as on another core
    pump.open(config, hello, 7);
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
    for (const protocol::Event& event : receive().events) {
        if (event.kind == Kind::extended && event.extended != Extended::sync) own.push_back(event);
    }
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].extended, Extended::tracer_begin);
    EXPECT_EQ(own[0].clock, began.clock);
    EXPECT_EQ(own[0].argument, 21u);
    EXPECT_EQ(own[1].extended, Extended::tracer_end);
    EXPECT_GT(own[1].argument, 0u);
}

TEST_F(PumpRoom, LosslessGivesUpBehindAnInterruptedRecorder) {
    open(Mode::lossless);
    core.cursor += record_bytes;  // the claim of the interrupted recorder, at the tail
    fill();
    EXPECT_FALSE(pump.make_room());
}

}  // namespace
}  // namespace nopscope
