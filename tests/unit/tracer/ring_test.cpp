// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/core_fixture.hpp"

#include <gtest/gtest.h>

namespace nopscope {
namespace {

using protocol::Kind;
using testing::CoreUnderTest;

constexpr std::uint64_t slots = ring_bytes / record_bytes;

// An interrupt makes one record, right after the first read of the clock.
struct Interrupting : sim::SimMachine {
    explicit Interrupting(Core& of) : SimMachine(0, 64), interrupted(of) {}
    std::uint64_t clock() {
        const std::uint64_t ticks = SimMachine::clock();
        if (!std::exchange(armed, false)) return ticks;
        SimMachine handler(0, 64);
        handler.now = now;
        (void)ring_put(handler, interrupted, protocol::make_record(protocol::Kind::call, 7, 0),
                       no_limit);
        now = handler.now;
        return ticks;
    }
    Core& interrupted;
    bool armed = false;
};

TEST(Ring, EveryKindComesBackAsItWasPut) {
    CoreUnderTest t;
    ASSERT_TRUE(t.call(0x40200100));
    ASSERT_TRUE(t.enter(0xfffffff8, 0x8000));  // plus 8 wraps in 32 bits
    t.leave();
    ASSERT_TRUE(ring_put(t.machine, t.core, protocol::make_sync(0), no_limit));
    const auto at = [&](unsigned i) { return *ring_peek(t.core, ring_bytes + 8 * i); };
    EXPECT_EQ(at(0).kind(), Kind::call);
    EXPECT_EQ(at(0).site_low(), 0x40200100u);
    EXPECT_EQ(at(1).kind(), Kind::entry);
    EXPECT_EQ(at(1).site_low(), 0xfffffff8u);
    EXPECT_EQ(at(2).kind(), Kind::ret);
    EXPECT_EQ(at(2).entry_index(), 1u);
    EXPECT_FALSE(at(2).unwound());
    EXPECT_EQ(at(3).extended(), protocol::Extended::sync);
    EXPECT_EQ(at(3).clock_low(), static_cast<std::uint32_t>(t.machine.now));
    EXPECT_FALSE(ring_peek(t.core, t.core.cursor));
}

TEST(Ring, TheTracersWorkHasTheTimeItBegan) {
    CoreUnderTest t;
    const Moment began = moment(t.machine, t.core);
    Moment left = began;
    t.machine.now += 1000;
    const auto put = [&](Moment* at) {
        return ring_put(t.machine, t.core, protocol::make_record(Kind::call, 9, 0), no_limit, at);
    };
    ASSERT_TRUE(put(&left) && put(&left) && put(nullptr) && put(&left));
    const auto clock = [&](unsigned i) {
        return ring_peek(t.core, ring_bytes + record_bytes * i)->clock_low();
    };
    EXPECT_EQ(clock(0), began.clock);
    EXPECT_EQ(clock(1), began.clock) << "nothing else came between";
    EXPECT_GE(clock(2), began.clock + 1000);
    EXPECT_GT(clock(3), clock(2)) << "something has";
}
// An interrupt records after moment() read the position, and before it read the clock.
TEST(Ring, AMomentNeverComesBeforeWhatWasRecorded) {
    CoreUnderTest t;
    Interrupting machine(t.core);
    machine.armed = true;
    Moment began = moment(machine, t.core);
    ASSERT_TRUE(
        ring_put(machine, t.core, protocol::make_record(Kind::call, 9, 0), no_limit, &began));
    const auto handlers = ring_peek(t.core, ring_bytes),
               ours = ring_peek(t.core, ring_bytes + record_bytes);
    ASSERT_TRUE(handlers && ours);
    EXPECT_GT(ours->clock_low(), handlers->clock_low());
}

TEST(Ring, SyncCarriesTheUpperClock) {
    CoreUnderTest t;
    t.machine.now = 0x123'4567'89ab'cdef;
    ASSERT_TRUE(ring_put(t.machine, t.core, protocol::make_sync(0), no_limit));
    const protocol::Record record = *ring_peek(t.core, ring_bytes);
    EXPECT_EQ(static_cast<std::uint64_t>(record.argument()) << 32 | record.clock_low(),
              t.machine.now);
}

// The order of the slots is the order of time, and each slot has one owner.
TEST(Ring, AnInterruptThatRecordsWithinAClaimComesFirst) {
    CoreUnderTest t;
    Interrupting machine(t.core);
    machine.armed = true;
    ASSERT_TRUE(
        ring_put(machine, t.core, protocol::make_record(protocol::Kind::call, 9, 0), no_limit));
    ASSERT_EQ(t.core.cursor, ring_bytes + 2 * record_bytes);
    const auto first = ring_peek(t.core, ring_bytes),
               second = ring_peek(t.core, ring_bytes + record_bytes);
    ASSERT_TRUE(first && second);
    // As they lie in the ring: without what a recorder adds to a site.
    EXPECT_EQ(first->site_low(), 7u << 3);
    EXPECT_EQ(second->site_low(), 9u << 3);
    EXPECT_GT(second->clock_low(), first->clock_low());
}

// Many laps: a slot counts as written only in the lap in which it was written.
TEST(Ring, LapParityTellsWrittenFromStale) {
    CoreUnderTest t;
    for (std::uint64_t i = 0; i < 5 * slots; ++i) {
        const std::uint64_t position = t.core.cursor;
        const auto site = static_cast<std::uint32_t>(8 * i);
        // Claimed, but not stored yet: an interrupted recorder leaves such a slot.
        t.core.cursor += record_bytes;
        ASSERT_FALSE(ring_peek(t.core, position)) << i;
        t.core.cursor -= record_bytes;
        ASSERT_TRUE(t.call(site));
        ASSERT_EQ(ring_peek(t.core, position)->site_low(), site);
        ring_release(t.machine, t.core, t.core.cursor);
    }
}

TEST(Ring, FullRingRefusesEntriesAndStillTakesEveryReturn) {
    CoreUnderTest t;
    std::uint64_t sp = 0x100000;
    unsigned open = 0;
    for (; open < shadow_frames; ++open) ASSERT_TRUE(t.enter(0x1000, sp -= 16));
    t.fill();
    EXPECT_FALSE(t.enter(0x1000, sp - 16));
    EXPECT_EQ(t.core.dropped, 1u);
    EXPECT_EQ(t.core.shadow_stack_full, 1u);
    while (ring_put(t.machine, t.core, protocol::make_sync(0), own_limit(t.core))) {
    }
    while (open-- > 0) t.leave();
    EXPECT_LE(t.core.cursor, t.core.tail + ring_bytes) << "a return went over an unread record";
    // The tracer's own records still fit beside them.
    CoreUnderTest other;
    other.fill();
    for (std::uint64_t i = 0; i < own_reserve_bytes / record_bytes; ++i) {
        ASSERT_TRUE(
            ring_put(other.machine, other.core, protocol::make_sync(0), own_limit(other.core)));
    }
    EXPECT_FALSE(
        ring_put(other.machine, other.core, protocol::make_sync(0), own_limit(other.core)));
}

TEST(Ring, EntriesLeaveTheMarginToo) {
    std::uint64_t end[2];
    for (const std::uint64_t margin : {0u, 512u}) {
        CoreUnderTest t;
        t.core.pump_reserve = margin;
        ring_set_limit(t.machine, t.core);
        t.fill();
        end[margin != 0] = t.core.cursor;
    }
    EXPECT_EQ(end[0] - end[1], 512u);
}

TEST(Ring, WhatIsReleasedIsRoomAtOnce) {
    CoreUnderTest t;
    t.fill();
    ring_release(t.machine, t.core, t.core.cursor);
    EXPECT_TRUE(t.call(0x2000));
}

// This record may come while recording is stopped. The pending switch's record comes before it.
TEST(Ring, ARecordOfAnotherContextComesBehindItsSwitch) {
    CoreUnderTest t;
    t.core.context_record_pending = 1;
    t.core.context_number = 3;
    const auto put = [&](std::uint64_t limit) {
        return ring_put(t.machine, t.core, protocol::make_sync(0), limit);
    };
    ASSERT_TRUE(put_in_context(t.machine, t.core, put, own_limit));
    EXPECT_EQ(ring_peek(t.core, ring_bytes)->extended(), protocol::Extended::context);
    EXPECT_EQ(ring_peek(t.core, ring_bytes)->argument(), 3u);
    EXPECT_EQ(ring_peek(t.core, ring_bytes + record_bytes)->extended(), protocol::Extended::sync);
}

TEST(Ring, StoppedStaysStoppedWhenThePumpReleases) {
    CoreUnderTest t;
    ASSERT_TRUE(t.call(0x1000));
    t.core.limit = 0;
    ring_release(t.machine, t.core, t.core.cursor);
    EXPECT_EQ(t.core.limit, 0u);
    EXPECT_FALSE(t.call(0x1000));
    EXPECT_EQ(t.core.dropped, 0u) << "stopped is not dropped";
}

TEST(ShadowStack, LongjmpClosesTheSkippedCalls) {
    CoreUnderTest t;
    t.enter(0x1000, 0x9000);
    t.enter(0x2000, 0x8000);
    t.enter(0x3000, 0x7000);
    unwind(t.machine, t.core, 0x9000, false);  // the hook does this at 0x1000's return
    EXPECT_EQ(t.depth(), 1u);
    for (const unsigned freed : {2u, 3u}) EXPECT_EQ(t.memory[0].frames[freed].sp, free_frame_sp);
    const protocol::Record inner = *ring_peek(t.core, ring_bytes + 8 * 3);
    const protocol::Record outer = *ring_peek(t.core, ring_bytes + 8 * 4);
    EXPECT_TRUE(inner.unwound() && outer.unwound());
    EXPECT_EQ(inner.entry_index(), 2u);
    EXPECT_EQ(outer.entry_index(), 1u);
    EXPECT_EQ(top_frame(t.core)->sp, 0x9000u);
}

// A longjmp leaves two of three calls at 1000, and the tracer is told. A hook finds it out at 2000.
struct ToldLongjmp : CoreUnderTest {
    ToldLongjmp() {
        enter(0x1000, 0x9000);
        enter(0x2000, 0x8000);
        enter(0x3000, 0x7000);
        machine.now = 1000;
        core.left_position = core.cursor;
        core.left_clock = machine.now;
    }
    // Returns the records that this makes.
    std::vector<protocol::Record> found() {
        const std::uint64_t from = core.cursor;
        machine.now = 2000;
        const Moment now = moment(machine, core);
        machine.now = 3000;
        unwind(machine, core, 0x9000, false, {now, 33});
        std::vector<protocol::Record> records;
        for (std::uint64_t at = from; at != core.cursor; at += record_bytes)
            records.push_back(*ring_peek(core, at));
        return records;
    }
};
TEST(ShadowStack, CallsThatAReportedLongjmpLeftEndWhenItIsReported) {
    ToldLongjmp t;
    const std::vector<protocol::Record> records = t.found();
    ASSERT_EQ(records.size(), 6u);
    EXPECT_TRUE(records[0].is(protocol::Extended::tracer_begin) &&
                records[3].is(protocol::Extended::tracer_end));
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(records[i].clock_low(), 1000u) << i;
    EXPECT_TRUE(records[1].unwound() && records[1].entry_index() == 2);
    EXPECT_TRUE(records[2].unwound() && records[2].entry_index() == 1);
    EXPECT_EQ(records[0].argument(), told_before);
    EXPECT_EQ(records[3].argument(), told_after);
    // The time that finding out took.
    EXPECT_TRUE(records[4].is(protocol::Extended::tracer_begin) &&
                records[5].is(protocol::Extended::tracer_end));
    EXPECT_TRUE(records[4].clock_low() >= 2000 && records[4].clock_low() < 3000);
    EXPECT_GE(records[5].clock_low(), 3000u);
    EXPECT_EQ(records[4].argument(), 33u);
    EXPECT_EQ(t.core.own_records, 4u);
}
TEST(ShadowStack, AReportedLongjmpDoesNotExplainLaterOnes) {
    ToldLongjmp t;
    ASSERT_TRUE(t.call(0x4000));
    const std::vector<protocol::Record> records = t.found();
    ASSERT_EQ(records.size(), 2u);
    for (const protocol::Record& record : records) {
        EXPECT_TRUE(record.unwound());
        EXPECT_TRUE(record.clock_low() >= 2000 && record.clock_low() < 3000)
            << "when it was found out";
    }
}

// Frames such as the profile's need no records, so the tracer writes no notes.
TEST(ShadowStack, AToldLongjmpThatLeavesNothingRecordedTakesNoRoom) {
    ToldLongjmp t;
    for (ShadowFrame& frame : t.memory[0].frames) frame.hook = hook_address(Hook::callback);
    EXPECT_TRUE(t.found().empty());
    EXPECT_EQ(t.depth(), 1u);
    EXPECT_EQ(t.core.own_records, 0u);
}

TEST(ShadowStack, SameSpNestsForTailCallsAndUnwindsOtherwise) {
    CoreUnderTest t;
    t.enter(0x1000, 0x9000);
    EXPECT_EQ(unwind(t.machine, t.core, 0x9000, false), t.core.top);
    EXPECT_EQ(t.depth(), 1u);
    unwind(t.machine, t.core, 0x9000, true);
    EXPECT_EQ(t.depth(), 0u);
}

TEST(ShadowStack, FrameBeingWrittenEndsTheSearch) {
    CoreUnderTest t;
    t.enter(0x1000, 0x9000);
    t.core.top += sizeof(ShadowFrame);  // published, not yet written: an interrupt lands here
    unwind(t.machine, t.core, 0x8000, true);
    EXPECT_EQ(t.depth(), 2u);
}

TEST(ShadowStack, WhatTheMemoryHeldIsNoFrame) {
    CoreUnderTest t;
    ShadowFrame frames[4];
    for (ShadowFrame& frame : frames) frame.sp = 0x8000;
    reset_shadow_stack(t.core, frames, 4, t.stack_high);
    EXPECT_EQ(frames[0].sp, t.stack_high);
    for (const unsigned free : {1u, 2u, 3u}) EXPECT_EQ(frames[free].sp, free_frame_sp);
}

TEST(ShadowStack, NeverPopsTheSentinel) {
    CoreUnderTest t;
    for (const std::uint64_t sp : {t.stack_high - 16, t.stack_high, ~std::uint64_t{0}}) {
        unwind(t.machine, t.core, sp, true);
        EXPECT_EQ(t.depth(), 0u);
    }
}

}  // namespace
}  // namespace nopscope
