// SPDX-License-Identifier: Apache-2.0
// Records of several words, the duration recorder's rare paths, and why a core is stopped.
#include "tests/unit/tracer/core_fixture.hpp"

namespace nopscope::testing {
namespace {

using protocol::Extended;
using protocol::make_extended;

struct RingMany : CoreTest {
    bool put_many(const protocol::Record& head, std::span<const std::uint64_t> data,
                  std::uint64_t limit) {
        return ring_put_many(machine, core, head, data, limit);
    }
};

TEST_F(RingMany, HeadAndDataComeBackInOrder) {
    const std::uint64_t data[] = {0x1fff'ffff, 0x1ff'ffff'ffff'ffff, 0};
    // Around the end of the ring, and the ends of the quarters that share a lap mark.
    for (std::uint64_t index = 0; index < 4 * 4 * slots; index += 4) {
        machine.now += 3;
        ASSERT_TRUE(put_many(make_extended(Extended::arguments, 0x0101), data, core.limit));
        ASSERT_EQ(record_index(core.cursor), index + 4);
        ASSERT_TRUE(at(index).is(Extended::arguments));
        ASSERT_EQ(at(index).argument(), 0x0101u);
        ASSERT_EQ(data_count(at(index)), 3u);
        for (unsigned n = 0; n < 3; ++n) {
            const protocol::Record word = at(index + 1 + n);
            ASSERT_TRUE(word.is(Extended::data));
            ASSERT_EQ(word.data(), data[n]);
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
    const protocol::Record head = make_extended(Extended::duration, 0);
    const std::uint64_t limit = core.cursor + 3 * record_bytes;
    EXPECT_FALSE(put_many(head, data, limit - record_bytes));
    EXPECT_EQ(core.cursor, ring_bytes);
    EXPECT_TRUE(put_many(head, data, limit));
    EXPECT_FALSE(put_many(head, data, 0)) << "stopped";
    EXPECT_FALSE(put_many(head, data, 1)) << "started, with no room yet";
}

TEST_F(RingMany, EveryHeadSaysHowMuchFollows) {
    const struct {
        Extended what;
        std::uint32_t argument;
        unsigned data;
    } heads[] = {{Extended::duration, 5, 2},        {Extended::arguments, 0, 1},
                 {Extended::arguments, 0x81ff, 11}, {Extended::result, 0, 2},
                 {Extended::result, 1, 3},          {Extended::counter, 0x1fffffe, 1},
                 {Extended::counter, 3, 2},         {Extended::marker, 3, 0}};
    for (const auto& [what, argument, data] : heads)
        EXPECT_EQ(data_count(make_extended(what, argument)), data) << argument;
    using protocol::TaskFact;
    for (const unsigned data : {0u, 1u, 31u}) {
        const std::uint32_t argument = protocol::task_argument(TaskFact::moved, data);
        EXPECT_EQ(data_count(make_extended(Extended::task, argument)), data);
        EXPECT_EQ(protocol::task_fact(argument), TaskFact::moved);
    }
    EXPECT_EQ(data_count(protocol::make_data(~std::uint64_t{0})), 0u);
    EXPECT_EQ(data_count(protocol::make_record(protocol::Kind::call, 7, 0)), 0u);
}

class Durations : public CoreTest {
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
    const std::uint64_t first = record_index(core.cursor), now = machine.now;
    unwind(machine, core, 0x9400, false);
    EXPECT_EQ(depth(), 1u);
    EXPECT_EQ(core.filtered, 1u);
    ASSERT_EQ(record_index(core.cursor), first + 2 * 3);
    std::uint64_t word = first;
    for (const unsigned ticks : {23u, 1023u}) {
        EXPECT_TRUE(at(word).is(Extended::duration));
        EXPECT_EQ(at(word).argument(), ticks == 23 ? 2u : 1u);  // open calls below it
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
    start_core(machine, core, stopped_outside);
    EXPECT_EQ(core.limit, entry_limit(core));
    EXPECT_EQ(core.dropped, 0u);
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
    EXPECT_EQ(core.subtree_depth, 0u);
    EXPECT_EQ(core.limit, 0u);
    EXPECT_EQ(stops_of(core), stopped_outside);
}

}  // namespace
}  // namespace nopscope::testing
