// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/core_fixture.hpp"

#include <gtest/gtest.h>

namespace nopscope {
namespace {

using testing::CoreUnderTest;
using wire::Kind;

constexpr std::uint64_t slots = ring_bytes / record_bytes;

TEST(Ring, EveryKindComesBackAsItWasPut) {
    CoreUnderTest t;
    ASSERT_TRUE(t.call(0x40200100));
    ASSERT_TRUE(t.enter(0xfffffff8, 0x8000));  // plus 8 wraps in 32 bits
    t.leave();
    ASSERT_TRUE(ring_put(t.machine, t.core, wire::make_sync(0), no_limit));
    const auto at = [&](unsigned i) { return *ring_peek(t.core, ring_bytes + 8 * i); };
    EXPECT_EQ(at(0).kind(), Kind::call);
    EXPECT_EQ(at(0).site_low(), 0x40200100u);
    EXPECT_EQ(at(1).kind(), Kind::entry);
    EXPECT_EQ(at(1).site_low(), 0xfffffff8u);
    EXPECT_EQ(at(2).kind(), Kind::ret);
    EXPECT_EQ(at(2).entry_index(), 1u);
    EXPECT_FALSE(at(2).unwound());
    EXPECT_EQ(at(3).extended(), wire::Extended::sync);
    EXPECT_EQ(at(3).clock_low(), static_cast<std::uint32_t>(t.machine.now));
    EXPECT_FALSE(ring_peek(t.core, t.core.cursor));
}

TEST(Ring, SyncCarriesTheUpperClock) {
    CoreUnderTest t;
    t.machine.now = 0x123'4567'89ab'cdef & ((std::uint64_t{1} << wire::sync_clock_bits) - 1);
    ASSERT_TRUE(ring_put(t.machine, t.core, wire::make_sync(0), no_limit));
    const wire::Record record = *ring_peek(t.core, ring_bytes);
    EXPECT_EQ(static_cast<std::uint64_t>(record.argument()) << 32 | record.clock_low(), t.machine.now);
}

// Many laps: a slot is "written" only in the lap it was written in.
TEST(Ring, LapParityTellsWrittenFromStale) {
    CoreUnderTest t;
    for (std::uint64_t i = 0; i < 5 * slots; ++i) {
        const std::uint64_t position = t.core.cursor;
        const auto site = static_cast<std::uint32_t>(8 * i);
        // Claimed, not yet stored: what an interrupted recorder leaves.
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
    while (t.call(0x2000)) {
    }
    EXPECT_FALSE(t.enter(0x1000, sp - 16));
    EXPECT_EQ(t.core.dropped, 1u);
    EXPECT_EQ(t.core.unhooked, 1u);
    while (open-- > 0) t.leave();
    EXPECT_LE(t.core.cursor, t.core.tail + ring_bytes) << "a return went over an unread record";
    // The tracer's own records still fit beside them.
    CoreUnderTest other;
    while (other.call(0x2000)) {
    }
    for (std::uint64_t i = 0; i < own_reserve_bytes / record_bytes; ++i) {
        ASSERT_TRUE(ring_put(other.machine, other.core, wire::make_sync(0), own_limit(other.core)));
    }
    EXPECT_FALSE(ring_put(other.machine, other.core, wire::make_sync(0), own_limit(other.core)));
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
    unwind(t.machine, t.core, 0x9000, false);  // as the hook does at 0x1000's return
    EXPECT_EQ(t.depth(), 1u);
    const wire::Record inner = *ring_peek(t.core, ring_bytes + 8 * 3);
    const wire::Record outer = *ring_peek(t.core, ring_bytes + 8 * 4);
    EXPECT_TRUE(inner.unwound() && outer.unwound());
    EXPECT_EQ(inner.entry_index(), 2u);
    EXPECT_EQ(outer.entry_index(), 1u);
    EXPECT_EQ(top_frame(t.core)->sp, 0x9000u);
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

TEST(ShadowStack, NeverPopsTheSentinel) {
    CoreUnderTest t;
    for (const std::uint64_t sp : {t.stack_high - 16, t.stack_high, ~std::uint64_t{0}}) {
        unwind(t.machine, t.core, sp, true);
        EXPECT_EQ(t.depth(), 0u);
    }
}

}  // namespace
}  // namespace nopscope
