// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing::pump_test {

struct PumpStream : PumpTest {
    PumpStream() { open(); }
};

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
TEST_F(PumpStream, RecordsArriveInOrderWithIndexClockAndSite) {
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
    EXPECT_EQ(received.headers.at(0).stream, Stream::hello);
    EXPECT_EQ(received.hellos.at(0).clock_hz, hz);
    EXPECT_EQ(received.hellos.size(), 1u);
    ASSERT_EQ(without_own(received.events).size(), 205u);
    const Kind kinds[] = {Kind::call, Kind::entry, Kind::entry, Kind::ret, Kind::ret};
    for (unsigned i = 0; i < 5; ++i) {
        const Event& event = received.events[i];
        EXPECT_EQ(tuple(event.index, event.kind, event.clock), tuple(i, kinds[i], clocks[i]));
    }
    EXPECT_EQ(tuple(received.events[1].site_offset, received.events[3].entry_index,
                    received.events[4].entry_index),
              tuple(0x1008u, 2u, 1u));
}

TEST_F(PumpStream, StopsAtARecordThatIsNotWrittenYet) {
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
    core.filtered = 5;
    core.calls_skipped = 7;
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
    Stats last = stats().back();
    EXPECT_TRUE(last.has_state);
    EXPECT_EQ(tuple(last.recursions, last.mode, last.recorders, last.since, last.stopped_at,
                    last.stray_returns, last.undeferred, last.profile, last.filtered),
              tuple(3u, 0u, 2u, in_force.since(), in_force.stopped_at(), 5u, 6u, 0u, 12u));
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
    open(Mode::stream, 1'000'000);
    before_byte = [this](std::uint8_t) { machine.now += 10; };
    std::string said;
    for (int i = 0; i < 250; ++i) {
        const std::string words = "line " + std::to_string(i) + "\n";
        pump.console(words.data(), words.size());
        said += words;
    }
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
    run(20'000, 100);
    const Received received = flushed();
    EXPECT_EQ(without_own(received.events).size(), 1000u - core.dropped);
    EXPECT_LT(received.events.size() - without_own(received.events).size(), 1000u);
}

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

// The pump's own records never take the room of the firmware's records, and never keep it sending.
TEST_F(PumpStream, AnIdlePumpFallsSilentAndHasRoom) {
    call(0x2000);
    run(100, hz / 1000);
    receive();
    run(500, hz / 1000);
    EXPECT_TRUE(receive().traces.empty());
    run(5000, hz / 10);
    EXPECT_LE(core.own_records * record_bytes, own_reserve_bytes);
    const std::size_t frames = receive().traces.size();
    EXPECT_GT(frames, 0u);
    EXPECT_LT(frames, 300u);
    EXPECT_TRUE(call(0x2000));
}

// A host that begins late, or has lost a frame.
TEST_F(PumpStream, AReaderThatBeginsAnywhereReadsWithinThreeSeconds) {
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

using Hook = std::function<void()> sim::SimMachine::*;

struct Interrupted : PumpTest {
    void TestBody() override {}
};
// Interrupts pumps: the n-th one when it comes to `hook` for the n-th time. Each time `work` is
// called there, and `check` when the pump has returned. Returns how often.
unsigned for_each_interruption(Hook hook, auto work, auto check) {
    for (unsigned n = 0;; ++n) {
        SCOPED_TRACE(n);
        Interrupted test;
        test.open();
        test.calls(300);
        bool came = false;
        unsigned left = n;
        test.machine.*hook = [&] {
            if (came || left-- != 0) return;
            came = true;
            work(test);
        };
        test.pump.run();
        test.machine.*hook = {};
        if (!came) return n;
        check(test);
    }
}
// In an interrupt of the pump, or on another core while interrupts are masked: then records that
// are already queued may come twice.
TEST(PumpPanics, AtAnyPointOfThePumpNothingIsLost) {
    for (const Hook hook : {&sim::SimMachine::on_restore, &sim::SimMachine::on_mask}) {
        std::vector<Event> events;
        const auto panic = [&](PumpTest& test) {
            test.pump.enter_panic();
            events = without_own(receive().events);  // on a target, a panic does not return
        };
        const unsigned points = for_each_interruption(hook, panic, [&](PumpTest&) {
            std::set<std::uint64_t> indexes;
            for (const Event& event : events) indexes.insert(event.index);
            EXPECT_EQ(indexes.size(), 300u);
            EXPECT_TRUE(events.size() == 300 || hook == &sim::SimMachine::on_mask);
        });
        EXPECT_GE(points, 4u);
    }
}

// If a begin lies within another bracket, a reader takes the outer bracket's end as lost.
TEST(PumpInterrupted, ByAnotherTheBracketsDoNotNest) {
    unsigned two = 0;
    const auto pump = [](PumpTest& test) { test.pump.send_hello(), test.pump.run(); };
    for_each_interruption(&sim::SimMachine::on_restore, pump, [&](PumpTest& test) {
        const std::string all = brackets(test.flushed());
        EXPECT_TRUE(all.find("<<") == all.npos && all.find(">>") == all.npos) << all;
        two += all == "<><>";
    });
    EXPECT_GE(two, 1u);
}

// The encoder's model then contains records that no frame contains.
TEST_F(PumpStream, APanicWithinTheEncoderBeginsAGroup) {
    for (int i = 0; i < 300; ++i) call(0x2000 + 8 * (i % 5));
    EXPECT_EQ(without_own(flushed().events).size(), 300u);
    for (int i = 0; i < 100; ++i) call(0x2000 + 8 * (i % 5));
    Byte payload[protocol::max_payload_bytes];
    encoders[0].begin(payload, {.index = record_index(core.tail), .clock = core.pumped_clock});
    int coded = 0;
    try {
        encoders[0].fill(100, [&](Record& record, std::uint64_t& clock) {
            if (coded++ == 50) throw 0;
            record = make_record(Kind::call, 0x7000 >> 3, 0);
            clock = core.pumped_clock;
            return true;
        });
    } catch (int) {
    }
    pump.enter_panic();
    EXPECT_EQ(without_own(receive().events).size(), 100u);
}

TEST_F(PumpTest, PanicFinishesTheFrameOnTheLineAndSendsTheRest) {
    open(Mode::stream, 1000);
    calls(200);
    transmitter_room = 50;
    machine.now += hz;
    pump.run();  // stuck in the middle of a frame
    transmitter_room = any_number;
    pump.enter_panic();
    pump.console("dead\n", 5);
    const Received received = receive();
    EXPECT_EQ(without_own(received.events).size(), 200u);
    EXPECT_EQ(received.console, "dead\n");
}

// ---- Lossless mode: code that finds the ring full pumps until there is room, or waits for it.

using PumpRoom = PumpTest;

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
    open(Mode::lossless);
    before_byte = [this](std::uint8_t) { pump.set_mode(Mode::flight); };  // as on another core
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
    std::vector<Event> own;
    for (const Event& event : receive().events)
        if (event.kind == Kind::extended && event.extended != Extended::sync) own.push_back(event);
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(tuple(own[0].extended, own[0].clock, own[0].argument, own[1].extended),
              tuple(Extended::tracer_begin, began.clock, 21u, Extended::tracer_end));
    EXPECT_GT(own[1].argument, 0u);
}

// How often the firmware has been told that the tracer waits. Each third time, the line is free.
unsigned waits;
void wait_for_the_line() { transmitter_room = ++waits % 3 == 0 ? any_number : 0; }

TEST_F(PumpRoom, TheFirmwareIsToldOfEachWait) {
    config.while_waiting = wait_for_the_line;
    open(Mode::lossless);
    waits = 0;
    transmitter_room = 0;
    fill();
    EXPECT_TRUE(pump.make_room());
    const unsigned for_room = waits;
    EXPECT_GT(for_room, 1u);
    const std::string text(100'000, 'x');  // more than the console's buffer holds
    transmitter_room = 0;
    pump.console(text.data(), text.size());
    EXPECT_GT(waits, for_room);
    const Received received = finished();
    EXPECT_EQ(received.console, text);
    EXPECT_EQ(received.stats.back().dropped, 0u);
}

// A recorded interrupt ends the brackets. Behind it a kernel runs, which finds the ring full, too.
TEST_F(PumpRoom, WorkInStepsGoesOnBehindAnInterrupt) {
    static Core* interrupted;
    static sim::SimMachine* on;
    interrupted = &core;
    on = &machine;
    config.while_waiting = [] {
        wait_for_the_line();
        if (waits != 8) return;
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
    open(Mode::lossless);
    waits = 0;
    transmitter_room = 0;
    fill();
    EXPECT_TRUE(pump.make_room());
    EXPECT_GT(waits, 8u);
    const Received received = finished();
    EXPECT_EQ(brackets(received), "<><><>");
    std::vector<std::uint32_t> before;
    for (const Event& event : received.events)
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

// ---- How the pump extends a ring's 32-bit clocks if nothing calls it for a long time.

constexpr std::uint64_t wrap = std::uint64_t{1} << 32;

struct PumpClock : PumpTest {
    // r: a call is recorded, R: 200 calls, which wait for room, (: a call that stays open, ): its
    // return, p: the pump runs, t: console text, 0 to f: idle for so many sixteenths of a wrap, W:
    // a wrap, H: 40 wraps, <: the clock goes back a little, =: the clocks received since the last
    // one are the true ones.
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
        case '<': machine.now -= 40; return;
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
    ::testing::Values(Idle{"NotByAStepBack", "r<r"},
                      Idle{"NearlyAWrapBetweenRecordsThatNobodyPumps", "rer"},
                      Idle{"AfterThePumpForManyWraps", "rpbrrr=rpW2rrr=rpW3rrr=rpWWW9rrr=rpH3rrr="},
                      Idle{"BeforeThePumpForManyWraps", "rrr8pr=rrrWpr=rrrWWW5pr="},
                      Idle{"InACallForManyWraps", "rpr(WWWWW8)r"},
                      Idle{"WhileAnEarlierFrameWaitsForTheLine", "RpWW4R", 1, Mode::stream, 1000},
                      Idle{"LosslessWithoutAnyCallOfThePump", "Rd", 20, Mode::lossless},
                      Idle{"TheConsoleAloneKeepsTheClock", "r6t6", 12}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace nopscope::testing::pump_test
