// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/core_fixture.hpp"

namespace nopscope::testing {
namespace {

using protocol::Extended;
using protocol::Kind;
using protocol::Record;

Record a_call(std::uint32_t site) { return protocol::make_record(Kind::call, site, 0); }

class Ring : public CoreTest {
protected:
    // Puts records until one has no room below this limit. Returns how many.
    unsigned fill_below(std::uint64_t (*limit)(const Core&)) {
        unsigned count = 0;
        while (put(protocol::make_sync(0), limit(core))) ++count;
        return count;
    }
};

// An interrupt makes one record, right after the first read of the clock.
struct Interrupting : sim::SimMachine {
    explicit Interrupting(Core& of) : SimMachine(0, 64), interrupted(of) {}
    std::uint64_t clock() {
        const std::uint64_t ticks = SimMachine::clock();
        if (std::exchange(came, true)) return ticks;
        SimMachine handler(0, 64);
        handler.now = now;
        (void)ring_put(handler, interrupted, a_call(7), no_limit);
        now = handler.now;
        return ticks;
    }
    Core& interrupted;
    bool came = false;
};

TEST_F(Ring, EveryKindComesBackAsItWasPut) {
    ASSERT_TRUE(call(0x40200100));
    ASSERT_TRUE(enter(0xfffffff8, 0x8000));  // plus 8 wraps in 32 bits
    leave();
    machine.now = 0x123'4567'89ab'cdef;
    ASSERT_TRUE(put(protocol::make_sync(0)));
    EXPECT_EQ(at(0).kind(), Kind::call);
    EXPECT_EQ(at(0).site_low(), 0x40200100u);
    EXPECT_EQ(at(1).kind(), Kind::entry);
    EXPECT_EQ(at(1).site_low(), 0xfffffff8u);
    EXPECT_EQ(at(2).kind(), Kind::ret);
    EXPECT_EQ(at(2).entry_index(), 1u);
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
    Interrupting interrupting(core);
    Moment began = moment(interrupting, core);
    ASSERT_TRUE(ring_put(interrupting, core, a_call(9), no_limit, &began));
    EXPECT_GT(at(1).clock_low(), at(0).clock_low());
}

// The order of the slots is the order of time, and each slot has one owner.
TEST_F(Ring, AnInterruptThatRecordsWithinAClaimComesFirst) {
    Interrupting interrupting(core);
    ASSERT_TRUE(ring_put(interrupting, core, a_call(9), no_limit));
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
    EXPECT_EQ(fill_below(own_limit), own_reserve_bytes / record_bytes);
    for (unsigned open = 0; open < shadow_frames; ++open) leave();
    EXPECT_LE(core.cursor, core.tail + ring_bytes) << "a return went over an unread record";
}

TEST_F(Ring, EntriesLeaveTheMarginToo) {
    const std::uint64_t without = entry_limit(core);
    core.pump_reserve = 512;
    start();
    fill();
    EXPECT_EQ(core.cursor, without - 512);
}

TEST_F(Ring, WhatIsReleasedIsRoomAtOnce) {
    fill();
    ring_release(machine, core, core.cursor);
    EXPECT_TRUE(call(0x2000));
}

// This record may come while recording is stopped. The pending switch's record comes before it.
TEST_F(Ring, ARecordOfAnotherContextComesBehindItsSwitch) {
    core.context_record_pending = 1;
    core.context_number = 3;
    const auto sync = [&](std::uint64_t limit) { return put(protocol::make_sync(0), limit); };
    ASSERT_TRUE(put_in_context(machine, core, sync, own_limit));
    EXPECT_EQ(at(0).extended(), Extended::context);
    EXPECT_EQ(at(0).argument(), 3u);
    EXPECT_EQ(at(1).extended(), Extended::sync);
}

TEST_F(Ring, StoppedStaysStoppedWhenThePumpReleases) {
    ASSERT_TRUE(call(0x1000));
    core.limit = 0;
    ring_release(machine, core, core.cursor);
    EXPECT_EQ(core.limit, 0u);
    EXPECT_FALSE(call(0x1000));
    EXPECT_EQ(core.dropped, 0u) << "stopped is not dropped";
}

struct ShadowStack : CoreTest {};

struct ThreeCalls : CoreTest {
    ThreeCalls() {
        enter(0x1000, 0x9000);
        enter(0x2000, 0x8000);
        enter(0x3000, 0x7000);
    }
    // Expects that two records from this index on are the returns of the two inner calls.
    void expect_returns(std::uint64_t index) {
        for (const std::uint64_t entry : {2, 1}) {
            EXPECT_TRUE(at(index).unwound());
            EXPECT_EQ(at(index++).entry_index(), entry);
        }
    }
};
using ShadowStackLongjmp = ThreeCalls;

TEST_F(ShadowStackLongjmp, ClosesTheSkippedCalls) {
    unwind(machine, core, 0x9000, false);  // the hook does this at 0x1000's return
    EXPECT_EQ(depth(), 1u);
    for (const unsigned freed : {2u, 3u}) EXPECT_EQ(memory[0].frames[freed].sp, free_frame_sp);
    expect_returns(3);
    EXPECT_EQ(top_frame(core)->sp, 0x9000u);
}

// A longjmp leaves two of three calls at 1000, and the tracer is told. A hook finds it out at 2000.
struct ShadowStackToldLongjmp : ThreeCalls {
    ShadowStackToldLongjmp() {
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
    EXPECT_EQ(at(3).argument(), told_before);
    EXPECT_EQ(at(6).argument(), told_after);
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

}  // namespace
}  // namespace nopscope::testing
