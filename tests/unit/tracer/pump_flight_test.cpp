// SPDX-License-Identifier: Apache-2.0
// Flight mode: the ring keeps the newest records. A snapshot sends them and counts older ones.
#include "tests/unit/tracer/pump_fixture.hpp"
#include "tracer/core/flight.hpp"

namespace nopscope::testing::pump_flight_test {

struct PumpFlight : PumpTest {
    void snapshot(std::uint32_t id) {
        EXPECT_TRUE(mark(id));
        pump.send_snapshot();
    }
    void make(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t index = record_index(core.cursor);
            const auto site = static_cast<std::uint32_t>(0x2000 + 8 * (index % 1000));
            if (call(site)) made[index] = tuple(site - 0x1000, machine.now, core.context_number);
        }
    }
    // Every call is one that was made, with its index, clock and context.
    Received checked(const Received& received) {
        check(received);
        return received;
    }
    void check(const Received& received) {
        std::size_t frame = 0;
        for (const Event& event : received.events) {
            while (frame < received.traces.size() && received.traces[frame].key &&
                   received.traces[frame].first_index <= event.index)
                context = received.traces[frame++].context;
            while (frame < received.traces.size() && !received.traces[frame].key) ++frame;
            if (event.kind == Kind::extended) {
                if (event.extended == Extended::context) context = event.argument;
                continue;
            }
            ASSERT_EQ(made.count(event.index), 1u) << event.index;
            ASSERT_EQ(tuple(event.site_offset, event.clock, context), made[event.index])
                << event.index;
            ++delivered_calls;
        }
    }

    // Site, clock and context, by index.
    std::map<std::uint64_t, tuple<std::uint32_t, std::uint64_t, std::uint32_t>> made;
    std::uint64_t delivered_calls = 0;
    std::uint32_t context = 0;  // of the last record that arrived
};

TEST_F(PumpFlight, NothingIsSentUntilAskedFor) {
    open(Mode::flight);
    make(5 * slots);
    run(300);
    const Received received = checked(flushed());
    EXPECT_TRUE(received.traces.empty());
    EXPECT_FALSE(received.hellos.empty());
    ASSERT_FALSE(received.stats.empty());
    EXPECT_GE(received.stats.back().overwritten, 4 * slots);
    EXPECT_EQ(received.stats.back().delivered, 0u);
    EXPECT_EQ(core.dropped, 0u);
    // Nor a lap later, when the slot at the tail has the same parity again.
    make(slots);
    EXPECT_TRUE(flushed().traces.empty());
}

TEST_F(PumpFlight, ASnapshotIsTheNewestRecordsAndItsMark) {
    open(Mode::flight);
    for (int round = 0; round < 4; ++round) {
        make(3 * slots + 17 * static_cast<unsigned>(round));
        EXPECT_EQ(core.dropped, 0u) << "the ring overwrites again after a snapshot";
        run(3);
        const std::uint64_t end = record_index(core.cursor);
        snapshot(7);
        run();
        const Received received = checked(receive());
        ASSERT_FALSE(received.events.empty());
        std::uint64_t next = received.events.front().index;
        for (const Event& event : received.events) EXPECT_EQ(event.index, next++);
        const auto is_mark = [&](const Event& event) {
            return is(event, Extended::marker) && event.argument == 7 && event.index == end;
        };
        EXPECT_EQ(std::count_if(received.events.begin(), received.events.end(), is_mark), 1);
        EXPECT_GE(received.events.size(), slots - shadow_frames - 2 * 64 - 8)
            << "all but the reserve";
    }
    check(finished());
}

TEST_F(PumpFlight, EntriesAreRefusedAndCountedUntilThePumpHasCome) {
    open(Mode::flight);
    make(2 * slots);
    snapshot(1);
    make(100);
    EXPECT_EQ(core.dropped, 100u);
    run();
    make(1);
    EXPECT_EQ(core.dropped, 100u);
    const Received received = checked(finished());
    const Stats last = received.stats.back();
    EXPECT_EQ(tuple(last.final, last.generated, last.delivered),
              tuple(1u, record_index(core.cursor) + core.dropped, received.events.size()));
    EXPECT_GT(last.overwritten, slots);
}

TEST_F(PumpFlight, OpenCallsReturnWhileItIsSent) {
    open(Mode::flight);
    make(slots / 2);
    std::uint64_t sp = 0x9000;
    for (unsigned i = 0; i < shadow_frames; ++i) ASSERT_TRUE(enter(0x3000, sp -= 16));
    for (unsigned i = 0; i < slots; ++i) {
        leave();
        ASSERT_TRUE(enter(0x3000, sp));
    }
    snapshot(2);
    transmitter_room = 0;
    pump.run();  // it settles the ring and gets stuck
    EXPECT_EQ(core.overwrites, 0u);
    for (unsigned i = 0; i < shadow_frames; ++i) leave();
    EXPECT_LE(core.cursor, core.tail + ring_bytes) << "a return went over an unread record";
    transmitter_room = any_number;
    run();
    const Received received = receive();
    EXPECT_EQ(without_own(received.events).back().kind, Kind::ret);
}

TEST_F(PumpFlight, ASlotThatIsNeverWrittenIsLeftOutAndCounted) {
    open(Mode::flight);
    make(2 * slots);
    const std::uint64_t hole = core.cursor;
    core.cursor += record_bytes;
    make(300);
    const std::uint64_t late = core.cursor;
    core.cursor += record_bytes;
    make(200);
    snapshot(5);
    pump.run();
    const Received first = checked(receive());
    EXPECT_EQ(core.tail, hole) << "it waits";
    EXPECT_EQ(first.events.back().index, record_index(hole) - 1);
    made[record_index(late)] = tuple(0x3000u, machine.now, 0u);
    write_late(late, 0x4000);
    run();
    const Received received = checked(finished());
    EXPECT_EQ(received.events.front().index, record_index(hole) + 1);
    const Stats last = received.stats.back();
    EXPECT_EQ(last.delivered, first.events.size() + received.events.size());
    EXPECT_EQ(last.generated, last.delivered + last.overwritten + last.dropped);
    EXPECT_EQ(last.generated, record_index(core.cursor));
}

// In stream mode a switch is one record, which does not name the context before it.
TEST_F(PumpFlight, ASnapshotBeginsWhereItsContextIsKnown) {
    open(Mode::stream);
    transmitter_room = 0;
    make(50);
    switch_to(5);
    make(50);
    pump.set_mode(Mode::flight);
    make(slots - 250);
    snapshot(9);
    transmitter_room = any_number;
    run();
    EXPECT_EQ(checked(receive()).events.front().index, record_index(core.doubled_from));
}

class PumpFlightPanics : public PumpFlight, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(PumpFlightPanics, AllIsSentWhereverThePumpWas) {
    open(Mode::flight);
    make(3 * slots);
    const std::uint64_t hole = record_index(core.cursor);
    core.cursor += record_bytes;  // the interrupted code's claim
    make(100);
    std::uint64_t end = 0;
    std::size_t left = GetParam();
    before_byte = [&](std::uint8_t) {
        if (left-- != 0) return;
        core.limit = 0;
        pump.enter_panic();
        end = record_index(core.cursor);
        throw 0;  // a panic does not return to the interrupted pump
    };
    try {
        pump.run();
        snapshot(8);
        for (;;) run();
    } catch (int) {
    }
    const Received received = checked(receive());
    ASSERT_FALSE(received.events.empty());
    EXPECT_EQ(received.events.back().index, end - 1);
    for (const Event& event : received.events) EXPECT_NE(event.index, hole);
    EXPECT_EQ(record_index(core.tail), end);
    EXPECT_EQ(received.events.size() + core.overwritten, end);
    EXPECT_GE(received.events.size(), slots - shadow_frames - 2 * 64 - 8);
}
INSTANTIATE_TEST_SUITE_P(Bytes, PumpFlightPanics,
                         ::testing::Values(0, 1, 60, 61, 100, 700, 1200, 2000, 5000));

// Finds the clock and the context that the ring begins with, over wraps and behind stream mode.
TEST_F(PumpFlight, ModeContextAndClockChangeWhileRecording) {
    std::mt19937 random(2);
    std::uint64_t longest = 0;  // ticks of what arrived at once
    open(Mode::stream);
    for (int round = 0; round < 200; ++round) {
        pump.set_mode(random() % 2 == 0 ? Mode::stream : Mode::flight);
        transmitter_room = random() % 4 == 0 ? 0 : any_number;
        for (unsigned parts = random() % 40; parts > 0; --parts) {
            make(random() % 100);
            if (random() % 3 == 0) switch_to(1 + random() % 5);
            if (random() % 2 == 0) {
                machine.now += (std::uint64_t{1} << 30) + 99;
                pump.run();
            }
        }
        transmitter_room = any_number;
        if (random() % 3 == 0) pump.send_snapshot();
        run(random() % 4);
        make(random() % 100);
        const Received received = checked(receive());
        if (received.events.empty()) continue;
        const std::uint64_t ticks = received.events.back().clock - received.events.front().clock;
        longest = std::max(longest, ticks);
    }
    const Received received = checked(finished());
    const Stats last = received.stats.back();
    EXPECT_EQ(last.generated, record_index(core.cursor) + core.dropped);
    EXPECT_GT(last.dropped, 0u);
    EXPECT_GT(last.overwritten, slots);
    EXPECT_GT(delivered_calls, 60 * slots / 2);
    EXPECT_LE(delivered_calls, made.size());
    EXPECT_GT(longest, std::uint64_t{3} << 32);
}

// A producer has passed the limit. The pump must not take the new records for the old ones.
class PumpFlightLaps : public PumpFlight, public ::testing::WithParamInterface<std::uint64_t> {};
TEST_P(PumpFlightLaps, WhileItIsReadAreSeen) {
    open(Mode::flight);
    make(2 * slots);
    snapshot(6);
    transmitter_room = 100;
    pump.run();
    EXPECT_EQ(core.overwrites, 0u);
    for (unsigned i = 0; i < GetParam(); ++i) {
        const std::uint64_t index = record_index(core.cursor);
        ASSERT_TRUE(put(make_record(Kind::call, 0x5000 >> 3, 0)));
        made[index] = tuple(0x4000u, machine.now, 0u);
    }
    transmitter_room = any_number;
    run();
    const Received received = checked(finished());
    EXPECT_EQ(received.stats.back().generated, record_index(core.cursor));
    EXPECT_EQ(received.stats.back().delivered, received.events.size());
}
// After two laps a slot has the same parity again.
INSTANTIATE_TEST_SUITE_P(Records, PumpFlightLaps,
                         ::testing::Values(slots / 2, 2 * slots + slots / 2));

// ---- How a ring settles: producers must stop meanwhile, and it then begins with a whole record.

// The ring's own core records as fast as it can while another core settles the ring.
TEST(Settle, ProducersAreKeptOff) {
    CoreUnderTest t;
    overwrite(t.machine, t.core, true);
    for (unsigned i = 0; i < 2 * slots; ++i) ASSERT_TRUE(t.call(0x2000));
    const std::uint64_t end = t.core.cursor;
    sim::SimMachine other(0, 64);
    other.on_clock = [&] {
        for (unsigned i = 0; i < slots; ++i) t.call(0x3000);
    };
    settle(other, t.core);
    EXPECT_EQ(tuple(t.core.cursor, t.core.dropped, lapped_records(t.core)), tuple(end, slots, 0u));
    EXPECT_TRUE(t.core.limit > t.core.tail) << "they are let in again";
}

TEST(Settle, BeginsWithAWholeRecord) {
    for (unsigned more = 0; more < 3; ++more) {
        CoreUnderTest t;
        overwrite(t.machine, t.core, true);
        const auto head = make_extended(Extended::duration, 0);
        const std::uint64_t data[] = {5, 6};
        for (unsigned i = 0; i < slots; ++i)
            ASSERT_TRUE(ring_put_many(t.machine, t.core, head, data, no_limit));
        t.calls(more);
        settle(t.machine, t.core);
        ASSERT_TRUE(ring_peek(t.core, t.core.tail));
        EXPECT_FALSE(ring_peek(t.core, t.core.tail)->is(Extended::data)) << more;
        EXPECT_EQ(t.core.overwritten, record_index(t.core.tail));
    }
}

}  // namespace nopscope::testing::pump_flight_test
