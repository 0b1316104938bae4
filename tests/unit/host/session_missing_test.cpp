// SPDX-License-Identifier: Apache-2.0
// What a session lacks: how much, of which kind, and in which time.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_missing_test {

class Missing : public Session {
protected:
    // Like read(), but not all generated records are delivered, dropped or lost.
    void end() {
        reader.feed(target.bytes);
        reader.finish();
        counters = reader.counters();
    }
};

TEST_F(Missing, AGapIsFromTheRecordBeforeItToTheOneBehindIt) {
    target.hello();
    play("1( |");
    const std::uint64_t from = target.clock;
    play("1( x # 1(");
    finish_and_read();
    ASSERT_EQ(sink.missing.size(), 1u);
    EXPECT_EQ(sink.missing[0].from, from);
    EXPECT_EQ(sink.missing[0].to, target.clock);
    EXPECT_EQ(sink.missing[0].lost, 1u);
}

TEST_F(Missing, OverwrittenRecordsAreNotLost) {
    hello_and_four_calls();
    stats({.now = target.clock, .generated = 12, .delivered = 8, .overwritten = 4});
    for (int i = 0; i < 10; ++i) target.entry(1);
    play("x #");
    four_calls();
    target.flush();
    stats({.now = target.clock, .generated = 26, .delivered = 22, .final = 1, .overwritten = 4});
    end();
    EXPECT_EQ(told(), "delivered 16, overwritten 4, lost 6, gaps 1, lost_frames 1");
    ASSERT_EQ(sink.missing.size(), 1u);
    EXPECT_EQ(sink.missing[0].overwritten, 4u);
    EXPECT_EQ(sink.missing[0].lost, 6u);
}

TEST_F(Missing, FilteredCallsAreGenerated) {
    hello_and_four_calls();
    stats({.now = target.clock, .generated = 13, .delivered = 8, .final = 1, .filtered = 5});
    end();
    EXPECT_EQ(told(), "delivered 8, filtered 5");
}

TEST_F(Missing, AFrameWithADamagedByteIsCounted) {
    hello_and_four_calls();
    target.bytes[target.frame_ends.back() - 3] ^= 0x10;
    finish_and_read();
    EXPECT_EQ(reader.line().corrupt_frames, 1u);
    EXPECT_EQ(reader.line().raw_bytes, 0u);
    EXPECT_EQ(told(), "lost 8, gaps 1");
}

}  // namespace nopscope::host::test::session_missing_test
