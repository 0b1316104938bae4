// SPDX-License-Identifier: Apache-2.0
// Context switches in the ring, how the pump sends them, and which requests it serves at once.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing::pump_contexts_test {

using Words = std::vector<std::string>;

struct PumpContexts : PumpTest {
    PumpContexts() { open(); }
    void switch_to(std::uint32_t number) {
        PumpTest::switch_to(number);
        switches.push_back({core.entered_context_clock, number});
    }
    // What arrived: calls and returns (one word for all that follow each other), switches with
    // their clocks, and the tracer's brackets.
    static Words words_of(const Received& received) {
        Words list{""};
        for (const Event& event : received.events) {
            const char* const what = event.kind == Kind::ret ? "returns" : "calls";
            if (event.kind != Kind::extended && list.back() != what) list.push_back(what);
            if (is(event, Extended::context)) list.push_back(a_switch(event.argument, event.clock));
            if (is(event, Extended::tracer_begin))
                list.push_back("begin " + std::to_string(event.clock));
            if (is(event, Extended::tracer_end)) list.push_back("end");
        }
        return {list.begin() + 1, list.end()};
    }
    static std::string a_switch(std::uint32_t number, std::uint64_t clock) {
        return "context " + std::to_string(number) + " " + std::to_string(clock);
    }
    std::string last_switch() const {
        return a_switch(core.context_number, core.entered_context_clock);
    }
    // Expects the core's last switch and then a bracket. Returns when it began.
    std::uint64_t expect_bracket_behind_switch(const Received& received) {
        Words list = words_of(received);
        std::erase(list, "calls");
        if (list.size() != 3) return ADD_FAILURE() << list.size(), 0;
        EXPECT_EQ(tuple(list[0], list[1].substr(0, 6), list[2]),
                  tuple(last_switch(), "begin ", "end"));
        return std::stoull(list[1].substr(6));
    }
    // The ring has no room for the switch. The pump makes some, and the next call comes behind it.
    void expect_next_call_behind_switch() {
        const std::uint64_t cursor = core.cursor;
        EXPECT_FALSE(call(0x3000));
        EXPECT_EQ(tuple(core.context_record_pending, core.cursor), tuple(1u, cursor));
        pump.flush();
        EXPECT_EQ(core.context_record_pending, 0u);
        ASSERT_TRUE(call(0x4000));
        const Received received = flushed();
        const Words list = words_of(received);
        EXPECT_EQ(Words(list.end() - 2, list.end()), (Words{last_switch(), "calls"}));
        EXPECT_EQ(received.events.back().site_offset, 0x3000u);
    }
    // The context that ran at this time, and when the core left it.
    std::pair<std::uint32_t, std::uint64_t> truth(std::uint64_t clock) const {
        std::size_t at = 0;
        while (at + 1 < switches.size() && switches[at + 1].first <= clock) ++at;
        return {switches[at].second,
                at + 1 < switches.size() ? switches[at + 1].first : ~std::uint64_t{0}};
    }
    // The time between two records counts only for a context that ran then.
    void expect_true(const Received& received) {
        for (const Event& event : received.events) {
            const auto [ran, until] = truth(last);
            if (reader != protocol::several_contexts && event.clock != last) {
                ASSERT_EQ(reader, ran) << "at " << last << ", record " << event.index;
                ASSERT_LE(event.clock, until) << "record " << event.index;
            }
            if (is(event, Extended::context)) reader = event.argument;
            several += reader == protocol::several_contexts;
            last = event.clock;
            brackets += is(event, Extended::tracer_begin);
        }
    }

    std::vector<std::pair<std::uint64_t, std::uint32_t>> switches{{0, 0}};  // clock, context
    std::uint32_t reader = 0;
    std::uint64_t last = machine.now;
    unsigned several = 0, brackets = 0;
};

TEST_F(PumpContexts, ASwitchIsARecordAndAFrameBeginsWithIt) {
    call(0x2000);
    switch_to(9);
    call(0x2008);
    pump.flush();
    EXPECT_EQ(core.own_records, 0u) << "it is not the tracer's own";
    machine.now += 3 * hz;  // time for a key frame
    call(0x2010);
    const Received received = flushed();
    EXPECT_EQ(words_of(received), (Words{"calls", last_switch(), "calls"}));
    ASSERT_EQ(received.traces.size(), 2u);
    EXPECT_EQ(tuple(received.traces[0].context, received.traces[1].context,
                    received.traces[1].first_index),
              tuple(0u, 9u, 3u));
}

TEST_F(PumpContexts, NoEntryComesBeforeItsSwitch) {
    fill();
    for (std::uint32_t i = 1; i < 1000; ++i) {
        switch_to(i);
        ASSERT_FALSE(call(0x3000));
    }
    expect_next_call_behind_switch();
}

// The switch needs more records than an entry. There is room for one.
TEST_F(PumpContexts, NoEntryComesBeforeASwitchOfSeveralRecords) {
    while (core.cursor + 2 * record_bytes <= core.limit) ASSERT_TRUE(call(0x2000));
    switch_context(core, 9, machine.now, 0, protocol::Left::preempted);
    put_switch(machine, core);
    EXPECT_FALSE(call(0x3000));
    ring_set_limit(machine, core);  // no room has come
    expect_next_call_behind_switch();
}

// If not even the tracer's own record has room, the pump makes none, and entries wait, too.
TEST_F(PumpContexts, WithoutAnyRoomTheTracerHasNoRecordEither) {
    fill();
    fill_own();
    switch_to(9);
    const std::uint64_t cursor = core.cursor;
    EXPECT_FALSE(put_own(machine, core, Extended::tracer_begin));
    EXPECT_EQ(core.cursor, cursor);
    expect_next_call_behind_switch();
    EXPECT_GT(core.dropped, 0u);
}

// The ring is full at the task switch, and the new task has to make room first.
TEST_F(PumpContexts, RoomIsMadeInTheContextThatWaitsForIt) {
    open(Mode::lossless);
    fill();
    switch_to(9);
    EXPECT_EQ(core.context_record_pending, 1u);
    machine.now += 1000;
    const Moment began = moment(machine, core);
    machine.now += 50;
    ASSERT_TRUE(pump.make_room(began, 21));
    EXPECT_EQ(expect_bracket_behind_switch(finished()), began.clock);
}

// If the switch's record comes after the work began, the work's begin must not come before it.
TEST_F(PumpContexts, ABracketThatBeganBeforeTheSwitchBeginsAfterIt) {
    core.limit = 0;
    const Moment began = moment(machine, core);
    machine.now += 100;
    switch_to(3);
    machine.now += 100;
    pump.charge_to_tracer([] {}, began);
    EXPECT_GT(expect_bracket_behind_switch(flushed()), core.entered_context_clock);
}

TEST_F(PumpContexts, ALateRecordHasItsSwitchsClockAndHidesNoContext) {
    core.limit = 0;
    switch_to(3);
    const std::uint64_t left = core.entered_context_clock;
    machine.now += 100;
    switch_to(4);
    EXPECT_EQ(core.cursor, ring_bytes);
    machine.now += 100;
    start();
    ASSERT_TRUE(call(0x2000));
    EXPECT_EQ(words_of(flushed()),
              (Words{a_switch(protocol::several_contexts, left), last_switch(), "calls"}));
}

// A return has no limit. The record of the switch comes after it.
TEST_F(PumpContexts, ALateRecordIsNotBeforeAReturn) {
    ASSERT_TRUE(enter(0x2000, 0x9000));
    core.limit = 0;
    switch_to(3);
    machine.now += 100;
    leave();
    const std::uint64_t left = machine.now;
    machine.now += 100;
    start();
    const Received received = flushed();
    EXPECT_EQ(words_of(received).size(), 3u);
    EXPECT_TRUE(is(received.events.back(), Extended::context));
    EXPECT_GT(received.events.back().clock, left);
}

class PumpContextsInMode : public PumpContexts, public ::testing::WithParamInterface<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, PumpContextsInMode,
                         ::testing::Values(Mode::stream, Mode::lossless));

TEST_P(PumpContextsInMode, NoContextHasTheTimeOfAnother) {
    const Mode mode = GetParam();
    open(mode);
    std::mt19937 random(7);
    for (int step = 0; step < 20000; ++step) {
        machine.now += random() % 50;
        transmitter_room =
            mode == Mode::lossless || random() % 3 == 0 ? ~std::size_t{0} : random() % 200;
        const unsigned what = random() % 100;
        if (what < 10)
            switch_to(random() % 5);
        else if (what == 10)
            stop_core(core, stopped_by_request);
        else if (what < 13)
            start_core(machine, core, stopped_by_request);
        else if (what == 13)
            pump.run(random() % 2 != 0 ? moment(machine, core) : Moment{});
        else if (what == 14)
            pump.charge_to_tracer([] {});
        else
            for (unsigned i = random() % 60; i-- > 0;)
                if (!call(0x2000) && mode == Mode::lossless && core.limit != 0)
                    (void)pump.make_room(moment(machine, core));
        if (step % 50 == 0) expect_true(receive());
        if (HasFatalFailure()) return;
    }
    start_core(machine, core, stopped_by_request);
    transmitter_room = any_number;
    expect_true(finished());
    EXPECT_GT(several, 0u);
    EXPECT_GT(brackets, 100u);
}

TEST_F(PumpContexts, WhatIsAskedForIsDueAtOnce) {
    pump.run();
    (void)receive();
    const auto sent = [this] {
        call(0x2000);
        pump.run();
        return without_own(receive().events).size();
    };
    EXPECT_EQ(sent(), 0u);
    core.send_to = core.cursor;
    EXPECT_EQ(sent(), 2u);
    EXPECT_EQ(sent(), 0u);
}

}  // namespace nopscope::testing::pump_contexts_test
