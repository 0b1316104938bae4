// SPDX-License-Identifier: Apache-2.0
// Lossless mode: code that finds the ring full pumps until there is room, or waits for it.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope {
namespace {

using protocol::Extended;
using protocol::Kind;
using testing::receive;
using testing::Received;
using testing::without_own;

using PumpRoom = testing::PumpTest;

TEST_F(PumpRoom, LosslessMakesRoom) {
    open(Mode::lossless);
    unsigned made = 0;
    for (; made < 5000; ++made) {
        while (!ring_put(machine, core, protocol::make_record(Kind::call, 0x400, 0), core.limit)) {
            ASSERT_TRUE(pump.make_room());
        }
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
    while (ring_put(machine, core, protocol::make_record(Kind::call, 0x400, 0), core.limit)) {
    }
    EXPECT_TRUE(pump.make_room());
    EXPECT_TRUE(ring_put(machine, core, protocol::make_record(Kind::call, 0x400, 0), core.limit));
}

TEST_F(PumpRoom, RoomIsMadeInTheTracersTimeFromWhereTheRecorderCameOn) {
    open(Mode::lossless);
    while (ring_put(machine, core, protocol::make_record(Kind::call, 0x400, 0), core.limit)) {
    }
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
    while (ring_put(machine, core, protocol::make_record(Kind::call, 0x400, 0), core.limit)) {
    }
    EXPECT_FALSE(pump.make_room());
}

}  // namespace
}  // namespace nopscope
