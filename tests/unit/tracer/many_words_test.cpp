// SPDX-License-Identifier: Apache-2.0
// Records of several words, the duration recorder's rare paths, and why a core is stopped.
#include "tests/unit/tracer/core_fixture.hpp"

#include <gtest/gtest.h>

namespace nopscope {
namespace {

using protocol::Extended;
using testing::CoreUnderTest;

protocol::Record at(const Core& core, std::uint64_t position) { return *ring_peek(core, position); }

TEST(RingMany, HeadAndDataComeBackInOrder) {
    CoreUnderTest t;
    const std::uint64_t data[] = {0x1fff'ffff, 0x1ff'ffff'ffff'ffff, 0};
    // Around the end of the ring, and the ends of the quarters that share a lap mark.
    for (unsigned i = 0; i < 4 * ring_bytes / record_bytes; ++i) {
        const std::uint64_t position = t.core.cursor;
        t.machine.now += 3;
        ASSERT_TRUE(ring_put_many(t.machine, t.core,
                                  protocol::make_extended(Extended::arguments, 0x0101), data,
                                  t.core.limit));
        ASSERT_EQ(t.core.cursor, position + 4 * record_bytes);
        const protocol::Record head = at(t.core, position);
        ASSERT_TRUE(head.is(Extended::arguments));
        ASSERT_EQ(head.argument(), 0x0101u);
        ASSERT_EQ(data_count(head) + 1, (t.core.cursor - position) / record_bytes);
        for (unsigned n = 0; n < 3; ++n) {
            const protocol::Record word = at(t.core, position + (1 + n) * record_bytes);
            ASSERT_TRUE(word.is(Extended::data));
            ASSERT_EQ(word.data(), data[n]);
            ASSERT_EQ(clock_of(word, 0x5'0000'0001), 0x5'0000'0001u) << "data have no clock";
        }
        ring_release(t.machine, t.core, t.core.cursor);
    }
}

TEST(RingMany, TheHeadWaitsForItsData) {
    CoreUnderTest t;
    for (unsigned i = 0; i < 4 * ring_bytes / record_bytes; ++i) {
        const auto claim = ring_claim(t.machine, t.core, 3 * record_bytes, t.core.limit);
        ASSERT_TRUE(claim);
        const auto word = [&](unsigned n) { return claim->position + n * record_bytes; };
        ring_store(t.core, word(0),
                   protocol::make_extended(Extended::duration, 1, claim->clock).word);
        ring_store(t.core, word(i % 2 + 1), protocol::make_data(7).word);
        ASSERT_FALSE(ring_peek(t.core, word(0)));
        ring_store(t.core, word(2 - i % 2), protocol::make_data(8).word);
        ASSERT_TRUE(ring_peek(t.core, word(0)));
        ring_release(t.machine, t.core, t.core.cursor);
    }
}

TEST(RingMany, WhatDoesNotFitWholeIsRefused) {
    CoreUnderTest t;
    const std::uint64_t data[] = {1, 2};
    const protocol::Record head = protocol::make_extended(Extended::duration, 0);
    const std::uint64_t limit = t.core.cursor + 3 * record_bytes;
    EXPECT_FALSE(ring_put_many(t.machine, t.core, head, data, limit - record_bytes));
    EXPECT_EQ(t.core.cursor, ring_bytes);
    EXPECT_TRUE(ring_put_many(t.machine, t.core, head, data, limit));
    EXPECT_FALSE(ring_put_many(t.machine, t.core, head, data, 0)) << "stopped";
    EXPECT_FALSE(ring_put_many(t.machine, t.core, head, data, 1)) << "started, with no room yet";
}

TEST(RingMany, EveryHeadSaysHowMuchFollows) {
    EXPECT_EQ(data_count(protocol::make_extended(Extended::duration, 5)), 2u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::arguments, 0)), 1u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::arguments, 0x81ff)), 1u + 8 + 2);
    using protocol::TaskFact;
    for (const unsigned data : {0u, 1u, 31u}) {
        const std::uint32_t argument = protocol::task_argument(TaskFact::moved, data);
        EXPECT_EQ(data_count(protocol::make_extended(Extended::task, argument)), data);
        EXPECT_EQ(protocol::task_fact(argument), TaskFact::moved);
    }
    EXPECT_EQ(data_count(protocol::make_extended(Extended::result, 0)), 2u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::result, 1)), 3u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::counter, 0x1fffffe)), 1u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::counter, 3)), 2u);
    EXPECT_EQ(data_count(protocol::make_extended(Extended::marker, 3)), 0u);
    EXPECT_EQ(data_count(protocol::make_data(~std::uint64_t{0})), 0u);
    EXPECT_EQ(data_count(protocol::make_record(protocol::Kind::call, 7, 0)), 0u);
}

class Durations : public ::testing::Test, public CoreUnderTest {
protected:
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
    const std::uint64_t position = core.cursor, now = machine.now;
    unwind(machine, core, 0x9400, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.filtered, 1u);
    ASSERT_EQ(core.cursor, position + 2 * 3 * record_bytes);
    const auto word = [&](unsigned n) { return at(core, position + n * record_bytes); };
    EXPECT_TRUE(word(0).is(Extended::duration) && word(3).is(Extended::duration));
    EXPECT_EQ(word(0).argument(), 2u);  // the number of open calls below it
    EXPECT_EQ(word(3).argument(), 1u);
    EXPECT_EQ(word(1).data(), 0x1fff'ffffu);
    EXPECT_EQ(word(4).data(), 0x1fff'ffffu);
    EXPECT_GE(word(2).data(), 23u);
    // The end less the duration is exactly the begin.
    EXPECT_EQ(word(0).clock_low() - word(2).data(), static_cast<std::uint32_t>(now - 23));
    EXPECT_EQ(word(3).clock_low() - word(5).data(), static_cast<std::uint32_t>(now - 1023));
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
    EXPECT_EQ(core.dropped, 2u);
    EXPECT_EQ(core.cursor, cursor);
    EXPECT_EQ(depth(), 0u);
}

TEST_F(Durations, TheClockMayHaveBeenReadTooEarly) {
    const ShadowFrame frame{0, 0, 0, 0, {100}};
    EXPECT_EQ(duration_of(frame, 99), 0u);
    EXPECT_EQ(duration_of(frame, 100), 0u);
    EXPECT_EQ(duration_of(frame, 101), 1u);
}

TEST(Depth, TheEndIsLoweredAndNeverRaisedAboveWhatThereIs) {
    CoreUnderTest t;
    EXPECT_EQ(t.core.shadow_end, t.core.frames_end);
    t.core.max_depth = 3;
    set_shadow_end(t.core);
    EXPECT_EQ(t.core.shadow_end, t.core.shadow_base + 3 * sizeof(ShadowFrame));
    EXPECT_TRUE(t.enter(0x2000, 0x9000) && t.enter(0x2000, 0x8000) && t.enter(0x2000, 0x7000));
    EXPECT_FALSE(t.enter(0x2000, 0x6000));
    t.core.max_depth = std::uint64_t{1} << 32;
    set_shadow_end(t.core);
    EXPECT_EQ(t.core.shadow_end, t.core.frames_end);
}

TEST(Stops, ACoreRecordsWhenNoReasonIsLeft) {
    CoreUnderTest t;
    t.core.sample_next = 9;
    stop_core(t.core, stopped_by_request);
    EXPECT_EQ(t.core.limit, 0u);
    EXPECT_EQ(t.core.sample_next, 0u) << "a sampled call does not look at the limit before";
    stop_core(t.core, stopped_outside);
    start_core(t.machine, t.core, stopped_by_request);
    EXPECT_EQ(t.core.limit, 0u);
    ring_release(t.machine, t.core, t.core.cursor);
    EXPECT_EQ(t.core.limit, 0u);
    start_core(t.machine, t.core, stopped_outside);
    EXPECT_EQ(t.core.limit, entry_limit(t.core));
    EXPECT_EQ(t.core.dropped, 0u);
}

TEST(Stops, LeavingTheSubtreeByLongjmpStopsTheCore) {
    CoreUnderTest t;
    t.core.subtree = 0x5000;
    t.core.subtree_depth = 2;
    for (const std::uint64_t sp : {0x9000, 0x8000, 0x7000}) {
        // The frame in the middle belongs to another ops.
        const std::uint64_t ops = sp == 0x8000 ? 0x6000 : 0x5000;
        t.push({0x1234, sp, hook_address(Hook::callback), 0x2000, {ops}});
    }
    unwind(t.machine, t.core, 0x8800, false);
    EXPECT_EQ(t.core.subtree_depth, 1u);
    EXPECT_NE(t.core.limit, 0u);
    unwind(t.machine, t.core, 0x9800, false);
    EXPECT_EQ(t.core.subtree_depth, 0u);
    EXPECT_EQ(t.core.limit, 0u);
    EXPECT_EQ(stops_of(t.core), stopped_outside);
}

}  // namespace
}  // namespace nopscope
