// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/core_fixture.hpp"

namespace nopscope::testing::ring_test {

Record a_call(std::uint32_t site) { return make_record(Kind::call, site, 0); }

struct Ring : CoreTest {
    // An interrupt makes one record, right after the first read of the clock.
    void interrupt_once() {
        machine.on_clock = [this] {
            if (!std::exchange(came, true)) (void)put(a_call(7));
        };
    }
    bool came = false;
};

TEST_F(Ring, EveryKindComesBackAsItWasPut) {
    ASSERT_TRUE(call(0x40200100));
    ASSERT_TRUE(enter(0xfffffff8, 0x8000));  // plus 8 wraps in 32 bits
    leave();
    machine.now = 0x123'4567'89ab'cdef;
    ASSERT_TRUE(put(protocol::make_sync(0)));
    EXPECT_EQ(std::pair(at(0).kind(), at(0).site_low()), std::pair(Kind::call, 0x40200100u));
    EXPECT_EQ(std::pair(at(1).kind(), at(1).site_low()), std::pair(Kind::entry, 0xfffffff8u));
    EXPECT_EQ(std::pair(at(2).kind(), at(2).entry_index()), std::pair(Kind::ret, 1u));
    EXPECT_FALSE(at(2).unwound());
    EXPECT_EQ(at(3).extended(), Extended::sync);
    EXPECT_EQ(std::uint64_t{at(3).argument()} << 32 | at(3).clock_low(), machine.now);
    EXPECT_FALSE(ring_peek(core, core.cursor));
}

TEST_F(Ring, TheTracersWorkHasTheTimeItBegan) {
    const Moment began = moment(machine, core);
    Moment left = began;
    machine.now += 1000;
    for (Moment* const from : {&left, &left, static_cast<Moment*>(nullptr), &left})
        ASSERT_TRUE(ring_put(machine, core, a_call(9), no_limit, from));
    EXPECT_EQ(at(0).clock_low(), began.clock);
    EXPECT_EQ(at(1).clock_low(), began.clock) << "nothing else came between";
    EXPECT_GE(at(2).clock_low(), began.clock + 1000);
    EXPECT_GT(at(3).clock_low(), at(2).clock_low()) << "something has";
}
// An interrupt records after moment() read the position, and before it read the clock.
TEST_F(Ring, AMomentNeverComesBeforeWhatWasRecorded) {
    interrupt_once();
    Moment began = moment(machine, core);
    ASSERT_TRUE(ring_put(machine, core, a_call(9), no_limit, &began));
    EXPECT_GT(at(1).clock_low(), at(0).clock_low());
}

// The order of the slots is the order of time, and each slot has one owner.
TEST_F(Ring, AnInterruptThatRecordsWithinAClaimComesFirst) {
    interrupt_once();
    ASSERT_TRUE(put(a_call(9)));
    ASSERT_EQ(core.cursor, ring_bytes + 2 * record_bytes);
    // As they lie in the ring: without what a recorder adds to a site.
    EXPECT_EQ(at(0).site_low(), 7u << 3);
    EXPECT_EQ(at(1).site_low(), 9u << 3);
    EXPECT_GT(at(1).clock_low(), at(0).clock_low());
}

// Many laps: a slot counts as written only in the lap in which it was written.
TEST_F(Ring, LapParityTellsWrittenFromStale) {
    for (std::uint64_t i = 0; i < 5 * slots; ++i) {
        const auto site = static_cast<std::uint32_t>(8 * i);
        // Claimed, but not stored yet: an interrupted recorder leaves such a slot.
        core.cursor += record_bytes;
        ASSERT_FALSE(ring_peek(core, core.cursor - record_bytes)) << i;
        core.cursor -= record_bytes;
        ASSERT_TRUE(call(site));
        ASSERT_EQ(at(i).site_low(), site);
        ring_release(machine, core, core.cursor);
    }
}

TEST_F(Ring, FullRingRefusesEntriesAndStillTakesEveryReturn) {
    std::uint64_t sp = 0x100000;
    for (unsigned open = 0; open < shadow_frames; ++open) ASSERT_TRUE(enter(0x1000, sp -= 16));
    fill();
    EXPECT_FALSE(enter(0x1000, sp - 16));
    EXPECT_EQ(core.dropped, 1u);
    EXPECT_EQ(core.shadow_stack_full, 1u);
    // The tracer's own records still fit beside them.
    EXPECT_EQ(fill_own(), own_reserve_bytes / record_bytes);
    for (unsigned open = 0; open < shadow_frames; ++open) leave();
    EXPECT_LE(core.cursor, core.tail + ring_bytes) << "a return went over an unread record";
}

TEST_F(Ring, EntriesLeaveTheMarginAndTheReserveToo) {
    core.pump_reserve = 512;
    core.reserve += 100 * record_bytes;
    start();
    fill();
    EXPECT_EQ(core.cursor - core.tail, ring_bytes - own_reserve_bytes - core.pump_reserve -
                                           (shadow_frames + 100) * record_bytes);
    ring_release(machine, core, core.cursor);
    EXPECT_TRUE(call(0x2000)) << "what is released is room at once";
}

// This record may come while recording is stopped. The pending switch's record comes before it.
TEST_F(Ring, ARecordOfAnotherContextComesBehindItsSwitch) {
    core.context_record_pending = 1;
    core.context_number = 3;
    const auto sync = [&](std::uint64_t limit) { return put(protocol::make_sync(0), limit); };
    ASSERT_TRUE(put_in_context(machine, core, sync, own_limit));
    EXPECT_EQ(tuple(at(0).extended(), at(0).argument(), at(1).extended()),
              tuple(Extended::context, 3u, Extended::sync));
}

// A switch whose record has no room does not start it either.
TEST_F(Ring, StoppedStaysStopped) {
    ASSERT_TRUE(enter(0x1000, 0x9000));
    fill();
    fill_own();
    core.limit = 0;
    switch_context(core, 3, machine.now, 7);
    put_switch(machine, core);
    EXPECT_EQ(core.limit, 0u);
}

using ShadowStack = CoreTest;

// A longjmp leaves two of three calls at 1000, and the tracer is told. A hook finds it out at 2000.
struct ShadowStackToldLongjmp : CoreTest {
    ShadowStackToldLongjmp() {
        enter(0x1000, 0x9000);
        enter(0x2000, 0x8000);
        enter(0x3000, 0x7000);
        machine.now = 1000;
        core.left_position = core.cursor;
        core.left_clock = machine.now;
    }
    // Returns the index of the first record that this makes.
    std::uint64_t find_out() {
        const std::uint64_t from = record_index(core.cursor);
        machine.now = 2000;
        const Moment now = moment(machine, core);
        machine.now = 3000;
        unwind(machine, core, 0x9000, false, {now, 33});
        return from;
    }
    // Expects that two records from this index on are the returns of the two inner calls.
    void expect_returns(std::uint64_t index) {
        for (const std::uint64_t entry : {2, 1}) {
            EXPECT_TRUE(at(index).unwound());
            EXPECT_EQ(at(index++).entry_index(), entry);
        }
    }
    void expect_bracket(std::uint64_t begin, std::uint64_t end) {
        EXPECT_TRUE(at(begin).is(Extended::tracer_begin) && at(end).is(Extended::tracer_end));
    }
    void expect_found_out(const Record& record) {
        EXPECT_TRUE(record.clock_low() >= 2000 && record.clock_low() < 3000);
    }
};
TEST_F(ShadowStackToldLongjmp, CallsEndWhenItIsReported) {
    ASSERT_EQ(find_out(), 3u);
    ASSERT_EQ(record_index(core.cursor), 3u + 6);
    expect_bracket(3, 6);
    for (unsigned i = 3; i < 7; ++i) EXPECT_EQ(at(i).clock_low(), 1000u) << i;
    expect_returns(4);
    EXPECT_EQ(at(3).argument(), arch::told_before);
    EXPECT_EQ(at(6).argument(), arch::told_after);
    // The time that finding out took.
    expect_bracket(7, 8);
    expect_found_out(at(7));
    EXPECT_GE(at(8).clock_low(), 3000u);
    EXPECT_EQ(at(7).argument(), 33u);
    EXPECT_EQ(core.own_records, 4u);
}
TEST_F(ShadowStackToldLongjmp, DoesNotExplainLaterOnes) {
    ASSERT_TRUE(call(0x4000));
    ASSERT_EQ(find_out(), 4u);
    ASSERT_EQ(record_index(core.cursor), 4u + 2);
    expect_returns(4);
    for (const unsigned i : {4u, 5u}) expect_found_out(at(i));
    EXPECT_EQ(tuple(depth(), top_frame(core)->sp), tuple(1u, 0x9000u));
    for (const unsigned freed : {2u, 3u}) EXPECT_EQ(memory[0].frames[freed].sp, free_frame_sp);
}

// Frames such as the profile's need no records, so the tracer writes no notes.
TEST_F(ShadowStackToldLongjmp, ThatLeavesNothingRecordedTakesNoRoom) {
    for (ShadowFrame& frame : memory[0].frames) frame.hook = hook_address(Hook::callback);
    EXPECT_EQ(find_out(), record_index(core.cursor));
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.own_records, 0u);
}

TEST_F(ShadowStack, SameSpNestsForTailCallsAndUnwindsOtherwise) {
    enter(0x1000, 0x9000);
    EXPECT_EQ(unwind(machine, core, 0x9000, false), core.top);
    EXPECT_EQ(depth(), 1u);
    unwind(machine, core, 0x9000, true);
    EXPECT_EQ(depth(), 0u);
}

TEST_F(ShadowStack, FrameBeingWrittenEndsTheSearch) {
    enter(0x1000, 0x9000);
    core.top += sizeof(ShadowFrame);  // published, not yet written: an interrupt lands here
    unwind(machine, core, 0x8000, true);
    EXPECT_EQ(depth(), 2u);
}

TEST_F(ShadowStack, WhatTheMemoryHeldIsNoFrame) {
    ShadowFrame frames[4];
    for (ShadowFrame& frame : frames) frame.sp = 0x8000;
    reset_shadow_stack(core, frames, 4, stack_high);
    EXPECT_EQ(frames[0].sp, stack_high);
    for (const unsigned free : {1u, 2u, 3u}) EXPECT_EQ(frames[free].sp, free_frame_sp);
}

TEST_F(ShadowStack, NeverPopsTheSentinel) {
    for (const std::uint64_t sp : {stack_high - 16, stack_high, ~std::uint64_t{0}}) {
        unwind(machine, core, sp, true);
        EXPECT_EQ(depth(), 0u);
    }
}

using RingMany = CoreTest;

TEST_F(RingMany, HeadAndDataComeBackInOrder) {
    const std::uint64_t data[] = {0x1fff'ffff, 0x1ff'ffff'ffff'ffff, 0};
    // Around the end of the ring, and the ends of the quarters that share a lap mark.
    for (std::uint64_t index = 0; index < 4 * 4 * slots; index += 4) {
        machine.now += 3;
        ASSERT_TRUE(ring_put_many(machine, core, make_extended(Extended::arguments, 0x0101), data,
                                  core.limit));
        ASSERT_EQ(record_index(core.cursor), index + 4);
        ASSERT_TRUE(at(index).is(Extended::arguments) && at(index).argument() == 0x0101);
        ASSERT_EQ(data_count(at(index)), 3u);
        for (unsigned n = 0; n < 3; ++n) {
            const Record word = at(index + 1 + n);
            ASSERT_TRUE(word.is(Extended::data) && word.data() == data[n]);
            ASSERT_EQ(clock_of(word, 0x5'0000'0001), 0x5'0000'0001u) << "data have no clock";
        }
        ring_release(machine, core, core.cursor);
    }
}

TEST_F(RingMany, TheHeadWaitsForItsData) {
    for (unsigned i = 0; i < 4 * slots; ++i) {
        const auto claim = ring_claim(machine, core, 3 * record_bytes, core.limit);
        ASSERT_TRUE(claim);
        const auto word = [&](unsigned n) { return claim->position + n * record_bytes; };
        ring_store(core, word(0), make_extended(Extended::duration, 1, claim->clock).word);
        ring_store(core, word(i % 2 + 1), protocol::make_data(7).word);
        ASSERT_FALSE(ring_peek(core, word(0)));
        ring_store(core, word(2 - i % 2), protocol::make_data(8).word);
        ASSERT_TRUE(ring_peek(core, word(0)));
        ring_release(machine, core, core.cursor);
    }
}

TEST_F(RingMany, WhatDoesNotFitWholeIsRefused) {
    const std::uint64_t data[] = {1, 2};
    const auto put_below = [&](std::uint64_t limit) {
        return ring_put_many(machine, core, make_extended(Extended::duration, 0), data, limit);
    };
    const std::uint64_t limit = core.cursor + 3 * record_bytes;
    EXPECT_FALSE(put_below(limit - record_bytes));
    EXPECT_EQ(core.cursor, ring_bytes);
    EXPECT_TRUE(put_below(limit));
    EXPECT_FALSE(put_below(0)) << "stopped";
    EXPECT_FALSE(put_below(1)) << "started, with no room yet";
}

TEST_F(RingMany, EveryHeadSaysHowMuchFollows) {
    using protocol::TaskFact;
    for (const unsigned data : {0u, 1u, 31u}) {
        const std::uint32_t argument = protocol::task_argument(TaskFact::moved, data);
        EXPECT_EQ(data_count(make_extended(Extended::task, argument)), data);
        EXPECT_EQ(protocol::task_fact(argument), TaskFact::moved);
    }
    EXPECT_EQ(data_count(protocol::make_data(~std::uint64_t{0})), 0u);
    EXPECT_EQ(data_count(make_record(Kind::call, 7, 0)), 0u);
}

struct Durations : CoreTest {
    static constexpr std::uint64_t function = 0xffff'fff8;
    // The function was called at `now`. Its body may begin behind a landing pad.
    void open_call(std::uint64_t sp, unsigned landing_pad = 0) {
        push({0x1234, sp, hook_address(Hook::duration), function + 8 + landing_pad, {machine.now}});
    }
};

TEST_F(Durations, SkippedCallsAreRecordedOrCounted) {
    core.min_duration = 10;
    enter(0x2000, 0x9800);
    open_call(0x9000);
    machine.now += 1000;
    open_call(0x8000, 4);
    machine.now += 20;
    open_call(0x7000);
    machine.now += 3;
    const std::uint64_t first = record_index(core.cursor), now = machine.now;
    unwind(machine, core, 0x9400, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.filtered, 1u);
    ASSERT_EQ(record_index(core.cursor), first + 2 * 3);
    std::uint64_t word = first;
    for (const unsigned ticks : {23u, 1023u}) {
        EXPECT_TRUE(at(word).is(Extended::duration) &&
                    at(word).argument() == (ticks == 23 ? 2u : 1u));  // open calls below it
        EXPECT_EQ(at(word + 1).data(), 0x1fff'ffffu);
        EXPECT_GE(at(word + 2).data(), ticks);
        // The end less the duration is exactly the begin.
        EXPECT_EQ(at(word).clock_low() - at(word + 2).data(),
                  static_cast<std::uint32_t>(now - ticks));
        word += 3;
    }
}

TEST_F(Durations, WithoutRoomOrContextASkippedCallIsDropped) {
    open_call(0x9000);
    open_call(0x8000);
    fill();
    core.dropped = 0;
    const std::uint64_t cursor = core.cursor;
    unwind(machine, core, 0x8800, false);
    EXPECT_EQ(core.dropped, 1u);
    core.tail = core.cursor;  // there is room, but the context record is pending
    core.context_record_pending = 1;
    unwind(machine, core, 0x9800, false);
    EXPECT_EQ(tuple(core.dropped, core.cursor, depth()), tuple(2u, cursor, 0u));
}

TEST_F(Durations, TheClockMayHaveBeenReadTooEarly) {
    for (const std::uint64_t end : {99, 100, 101})
        EXPECT_EQ(duration_of({0, 0, 0, 0, {100}}, end), end == 101 ? 1u : 0u);
}

using Depth = CoreTest;
using Stops = CoreTest;

TEST_F(Depth, TheEndIsLoweredAndNeverRaisedAboveWhatThereIs) {
    EXPECT_EQ(core.shadow_end, core.frames_end);
    core.max_depth = 3;
    set_shadow_end(core);
    EXPECT_EQ(core.shadow_end, core.shadow_base + 3 * sizeof(ShadowFrame));
    EXPECT_TRUE(enter(0x2000, 0x9000) && enter(0x2000, 0x8000) && enter(0x2000, 0x7000));
    EXPECT_FALSE(enter(0x2000, 0x6000));
    core.max_depth = std::uint64_t{1} << 32;
    set_shadow_end(core);
    EXPECT_EQ(core.shadow_end, core.frames_end);
}

TEST_F(Stops, ACoreRecordsWhenNoReasonIsLeft) {
    core.sample_next = 9;
    stop_core(core, stopped_by_request);
    EXPECT_EQ(core.limit, 0u);
    EXPECT_EQ(core.sample_next, 0u) << "a sampled call does not look at the limit before";
    stop_core(core, stopped_outside);
    start_core(machine, core, stopped_by_request);
    EXPECT_EQ(core.limit, 0u);
    ring_release(machine, core, core.cursor);
    EXPECT_EQ(core.limit, 0u);
    EXPECT_FALSE(call(0x1000));
    EXPECT_EQ(core.dropped, 0u) << "stopped is not dropped";
    start_core(machine, core, stopped_outside);
    EXPECT_EQ(core.limit, entry_limit(core));
}

TEST_F(Stops, LeavingTheSubtreeByLongjmpStopsTheCore) {
    core.subtree = 0x5000;
    core.subtree_depth = 2;
    for (const std::uint64_t sp : {0x9000, 0x8000, 0x7000}) {
        // The frame in the middle belongs to another ops.
        const std::uint64_t ops = sp == 0x8000 ? 0x6000 : 0x5000;
        push({0x1234, sp, hook_address(Hook::callback), 0x2000, {ops}});
    }
    unwind(machine, core, 0x8800, false);
    EXPECT_EQ(core.subtree_depth, 1u);
    EXPECT_NE(core.limit, 0u);
    unwind(machine, core, 0x9800, false);
    EXPECT_EQ(tuple(core.subtree_depth, core.limit, stops_of(core)),
              tuple(0u, 0u, stopped_outside));
}

// ---- Calls that return while another context runs.

constexpr std::uint64_t hook = 0x4000, other_hook = 0x5000;

ShadowFrame frame_of(std::uint64_t sp, std::uint64_t return_address, std::uint64_t of = hook) {
    return {return_address, sp, of, 0, {}};
}

struct Strays : CoreTest {
    Strays() { core.graves = reinterpret_cast<std::uintptr_t>(graves.data()); }
    std::vector<Grave> graves = std::vector<Grave>(max_graves);
};

TEST_F(Strays, TheNewestGraveOfAnSpAndAHookIsTheRightOne) {
    for (const ShadowFrame& frame : {frame_of(0x8000, 1), frame_of(0x8000, 3),
                                     frame_of(0x8000, 2, other_hook), frame_of(0x9000, 4)})
        bury(core, frame);
    EXPECT_EQ(exhume(core, 0x7000, hook), 0u);
    EXPECT_EQ(core.stack_low, 0u);  // no call has shown yet that there are several stacks
    EXPECT_EQ(exhume(core, 0x8000, hook), 3u);
    EXPECT_EQ(core.stack_low, ~std::uint64_t{0});
    EXPECT_EQ(exhume(core, 0x8000, other_hook), 2u);
    for (const std::uint64_t only_once : {4, 0}) EXPECT_EQ(exhume(core, 0x9000, hook), only_once);
    core.graves = 0;  // without memory for graves there are none
    bury(core, frame_of(0x8000, 1));
    EXPECT_EQ(exhume(core, 0x8000, hook), 0u);
}

TEST_F(Strays, OldGravesMakeRoom) {
    for (std::uint64_t n = 0; n < max_graves + 3; ++n) bury(core, frame_of(0x1000 + 16 * n, n + 1));
    for (std::uint64_t n = 0; n < max_graves + 3; ++n)
        EXPECT_EQ(exhume(core, 0x1000 + 16 * n, hook), n < 3 ? 0 : n + 1) << n;
}

TEST_F(Strays, TakesTheInnermostOfATailCallFirst) {
    ShadowFrame frames[] = {frame_of(0x9000, 1), frame_of(0x8000, 2), frame_of(0x8000, hook),
                            frame_of(0x7000, 4), frame_of(free_frame_sp, 5)};
    EXPECT_EQ(take_stray(frames, 0x8000, other_hook), 0u);
    for (const std::uint64_t address : {hook, std::uint64_t{2}, std::uint64_t{0}})
        EXPECT_EQ(take_stray(frames, 0x8000, hook), address);
    EXPECT_EQ(frames[0].sp, 0x9000u);
    EXPECT_EQ(frames[3].sp, 0x7000u);
}

// The next call or return closes marked frames like those that longjmp left. It does not bury them.
TEST_F(Strays, AMarkedFrameIsDeadToTheNextCall) {
    enter(0x2000, 0x9000, 0x111);
    enter(0x2008, 0x8000, 0x222);
    enter(0x2010, 0x7000, 0x333);
    EXPECT_EQ(take_stray(memory[0].frames, 0x7000, hook_address(Hook::graph)), 0x333u);
    EXPECT_EQ(take_stray(memory[0].frames, 0x8000, hook_address(Hook::graph)), 0x222u);
    EXPECT_FALSE(has_open(core, 0x8000));
    EXPECT_TRUE(has_open(core, 0x9000));
    const std::uint64_t records = core.cursor;
    unwind(machine, core, 0x6000, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.cursor, records + 2 * record_bytes);  // the returns of both calls
    EXPECT_EQ(core.buried, 0u);
    leave();
    EXPECT_EQ(depth(), 0u);
}

// Two stacks use one shadow stack, and the tracer is not told.
TEST_F(Strays, CallsOfTwoStacksAllFindTheirReturnAddress) {
    std::mt19937 random(1);
    for (unsigned round = 0; round < 8; ++round) {
        core.stack_low = 0;
        std::vector<std::uint64_t> open[2];  // return addresses, by stack
        const auto sp_of = [&](unsigned stack) {
            return 0x8000 + 0x4000 * stack - 16 * open[stack].size();
        };
        std::uint64_t address = 0x100000;
        const auto end_one = [&](unsigned stack) {
            const std::uint64_t expected = open[stack].back();
            open[stack].pop_back();
            const std::uint64_t sp = sp_of(stack);
            if (has_open(core, sp)) {
                unwind(machine, core, sp, false);
                ASSERT_EQ(top_frame(core)->sp, sp);
                EXPECT_EQ(top_frame(core)->return_address, expected);
                leave();
            } else {
                EXPECT_EQ(exhume(core, sp, hook_address(Hook::graph)), expected);
            }
        };
        for (unsigned step = 0; step < 60; ++step) {
            const unsigned stack = random() % 2;
            if (random() % 2 == 0 && !open[stack].empty()) {
                end_one(stack);
            } else if (core.stack_low == 0) {
                address += 4;
                ASSERT_TRUE(enter(0x2000, sp_of(stack), address));
                open[stack].push_back(address);
            }
        }
        for (const unsigned stack : {0u, 1u})
            while (!open[stack].empty()) end_one(stack);
        unwind(machine, core, stack_high - 1, true);
    }
}

}  // namespace nopscope::testing::ring_test
