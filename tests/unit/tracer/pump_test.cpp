// SPDX-License-Identifier: Apache-2.0
// The pump with a line in memory, which the wire format's own reader reads back.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing {
namespace {

using protocol::Kind;

TEST_F(PumpTest, ALineThatNeverCatchesUpCarriesStats) {
    open(Mode::stream, 2000);
    for (int round = 0; round < 150; ++round) {
        for (unsigned i = 0; call(0x2000 + 8 * (i % 997)); ++i) {
        }
        machine.now += hz / 50;
        pump.run();
        ASSERT_LT(cores[0].tail, cores[0].cursor);
    }
    const Received received = receive();
    EXPECT_GE(received.stats.size(), 2u);  // one each second
    EXPECT_LE(received.stats.size(), 4u);
}

// The transmitter is full most of the time.
TEST_F(PumpTest, RecordsArriveInOrderWithIndexClockAndSite) {
    open();
    transmitter_room = 0;
    std::vector<std::uint64_t> clocks;
    const auto stamp = [&] { clocks.push_back(machine.now); };
    call(0x2000), stamp();
    enter(0x2008, 0x9000), stamp();
    enter(0x3000, 0x8000), stamp();
    leave(), stamp();
    machine.now += 1000;
    leave(), stamp();
    calls(200);
    for (int i = 0; i < 5000; ++i) {
        pump.run();
        transmitter_room = 1;
    }
    transmitter_room = any_number;
    const Received received = flushed();
    EXPECT_EQ(received.headers.at(0).stream, protocol::Stream::hello);
    EXPECT_EQ(received.hellos.at(0).clock_hz, hz);
    EXPECT_EQ(received.hellos.size(), 1u);
    ASSERT_EQ(without_own(received.events).size(), 205u);
    const Kind kinds[] = {Kind::call, Kind::entry, Kind::entry, Kind::ret, Kind::ret};
    for (unsigned i = 0; i < 5; ++i) {
        EXPECT_EQ(received.events[i].index, i);
        EXPECT_EQ(received.events[i].kind, kinds[i]);
        EXPECT_EQ(received.events[i].clock, clocks[i]);
    }
    EXPECT_EQ(received.events[1].site_offset, 0x1008u);
    EXPECT_EQ(received.events[3].entry_index, 2u);
    EXPECT_EQ(received.events[4].entry_index, 1u);
}

TEST_F(PumpTest, BackwardStepsOfTheClockAreNoWrap) {
    open();
    call(0x2000);
    machine.now -= 40;
    call(0x2000);
    const Received received = flushed();
    ASSERT_EQ(received.events.size(), 2u);
    EXPECT_EQ(received.events[1].clock, received.events[0].clock - 39);
}

TEST_F(PumpTest, StopsAtARecordThatIsNotWrittenYet) {
    open();
    call(0x2000);
    const std::uint64_t claimed = core.cursor;
    core.cursor += record_bytes;
    call(0x3000);
    EXPECT_EQ(flushed().events.size(), 1u);
    EXPECT_EQ(core.tail, claimed);
    write_late(claimed, 0x2100);
    const Received rest = flushed();
    ASSERT_EQ(rest.events.size(), 2u);
    EXPECT_EQ(rest.events[0].index, 1u);
    EXPECT_EQ(rest.events[0].site_offset, 0x1100u);
}

TEST_F(PumpTest, SaysWhatIsInForceAndOfAllCoresAtOnceWhenAsked) {
    InForce in_force;
    Pump<sim::SimMachine> telling{machine, cores,   encoders.get(), nullptr,
                                  nullptr, nullptr, nullptr,        &in_force};
    open();
    telling.open(config, hello, 7);
    telling.flush();
    core.recursions = 3;
    machine.now += 1000;
    in_force.set_recorders(2, machine.now);
    core.stray_returns = 5;
    core.undeferred = 6;
    in_force.set_stopped_at(machine.now + 1);
    (void)receive();
    const auto stats = [&] {
        telling.run();
        return receive().stats;
    };
    EXPECT_TRUE(stats().empty());  // none is due
    telling.send_stats();
    protocol::Stats last = stats().back();
    EXPECT_TRUE(last.has_state);
    EXPECT_EQ(last.recursions, 3u);
    EXPECT_EQ(last.mode, 0u);
    EXPECT_EQ(last.recorders, 2u);
    EXPECT_EQ(last.since, in_force.since());
    EXPECT_EQ(last.stopped_at, in_force.stopped_at());
    EXPECT_EQ(last.stray_returns, 5u);
    EXPECT_EQ(last.undeferred, 6u);
    EXPECT_EQ(last.profile, 0u);
    // A change of mode is sent at once.
    machine.now += 500;
    telling.set_mode(Mode::lossless);
    last = stats().back();
    EXPECT_EQ(last.mode, 1u);
    EXPECT_GT(last.since, in_force.since());
    // A pump without this information (for the session before a reset) sends none.
    pump.send_stats();
    EXPECT_FALSE(flushed().stats.back().has_state);
}

TEST_F(PumpTest, PacesItselfToTheLine) {
    constexpr std::uint32_t rate = 10'000;
    open(Mode::stream, rate);
    const std::uint64_t start = machine.now;
    std::size_t sent = 0;
    std::uint32_t site = 1;  // the encoder cannot predict these sites
    for (int i = 0; i < 20'000; ++i) {
        for (int n = 0; n < 4; ++n)
            call(0x2000 + ((site = site * 1664525 + 1013904223) >> 16 & ~7u));
        machine.now += 100;
        pump.run();
        sent = line_bytes.size();
        const double most = static_cast<double>(machine.now - start) / hz * rate;
        ASSERT_LE(static_cast<double>(sent), most + 1);
    }
    const double elapsed = static_cast<double>(machine.now - start) / hz;
    EXPECT_GT(static_cast<double>(sent), elapsed * rate * 0.9) << "the line stood idle";
}

// An emulated UART accepts a byte at any time, but more slowly than the pace says.
TEST_F(PumpTest, GoesOnForTenMillisecondsAtMost) {
    static sim::SimMachine* clock;
    clock = &machine;
    open(Mode::stream, 1'000'000, [](std::uint8_t byte) {
        clock->now += 10;
        return try_write(byte);
    });
    const std::string said(2000, '.');
    pump.console(said.data(), said.size());
    const std::uint64_t before = machine.now += hz;  // a full credit
    pump.run();
    EXPECT_GE(machine.now - before, hz / 100);
    EXPECT_LT(machine.now - before, 2 * hz / 100);
    for (int i = 0; i < 10; ++i) pump.run();
    EXPECT_EQ(receive().console, said);
}

// The tracer's own records must not fill a line on which each pump sends only a byte or two.
TEST_F(PumpTest, ASlowLineIsNotFilledWithBrackets) {
    open(Mode::stream, 10'000);
    for (int i = 0; i < 1000; ++i) call(0x2000 + 8 * static_cast<std::uint32_t>(i * i % 999));
    for (int i = 0; i < 20'000; ++i) {
        machine.now += 100;
        pump.run();
    }
    transmitter_room = any_number;
    const Received received = flushed();
    EXPECT_EQ(without_own(received.events).size(), 1000u - core.dropped);
    EXPECT_LT(received.events.size() - without_own(received.events).size(), 1000u);
}

TEST_F(PumpTest, ItsTimeIsBracketed) {
    open();
    calls(300);
    pump.run();
    EXPECT_EQ(brackets(flushed()), "<>");
}

TEST_F(PumpTest, AnIdlePumpFallsSilent) {
    open();
    call(0x2000);
    for (int i = 0; i < 100; ++i) pump.run(), machine.now += hz / 1000;
    receive();
    for (int i = 0; i < 500; ++i) pump.run(), machine.now += hz / 1000;
    EXPECT_TRUE(receive().traces.empty()) << "its own records must not keep it going";
}

// However long the transmitter accepted nothing.
TEST_F(PumpTest, AStuckTransmitterEarnsNoMoreThanABurst) {
    constexpr std::uint32_t rate = 10'000;
    open(Mode::stream, rate);
    transmitter_room = 0;
    for (int i = 0; i < 10'000; ++i) {
        call(0x2000 + 8 * static_cast<std::uint32_t>(i * i % 999));
        machine.now += hz / 1000;
        pump.run();
    }
    transmitter_room = any_number;
    pump.run();
    EXPECT_LE(line_bytes.size(), rate / 20 + 1);
    EXPECT_GT(line_bytes.size(), 0u);
}

TEST_F(PumpTest, WhatFiltersLeaveOutIsInTheAccount) {
    open();
    core.filtered = 5;
    core.calls_skipped = 7;
    call(0x2000);
    EXPECT_EQ(finished().stats.back().filtered, 12u);
}

// The pump's own records never take the room of the firmware's records, and never keep it sending.
TEST_F(PumpTest, AfterALongIdleTimeThereIsRoom) {
    open();
    for (int i = 0; i < 5000; ++i) pump.run(), machine.now += hz / 10;
    EXPECT_LE(core.own_records * record_bytes, own_reserve_bytes);
    const std::size_t frames = receive().traces.size();
    EXPECT_GT(frames, 0u);
    EXPECT_LT(frames, 300u);
    EXPECT_TRUE(call(0x2000));
}

// A host that begins late, or has lost a frame.
TEST_F(PumpTest, AReaderThatBeginsAnywhereReadsWithinThreeSeconds) {
    open();
    const auto seconds = [this](int count, bool cut = false) {
        for (int i = 0; i < 20 * count; ++i) call(0x2000), pump.run(), machine.now += hz / 20;
        return receive(cut);
    };
    seconds(1);
    decoders.clear();
    seconds(3, true);
    const Received received = seconds(1);
    EXPECT_GT(received.events.size(), 10u);
}

}  // namespace
}  // namespace nopscope::testing
