// SPDX-License-Identifier: Apache-2.0
// A session that continues after a warm reset. Its sequence numbers jump, which is no loss. The
// reader decodes only records that the target made.
#include "tests/unit/host/session_fixture.hpp"

namespace nopscope::host {
namespace {

using protocol::Stream;
using test::Bytes;

// The site of the record with this index, as the target recorded it.
constexpr std::uint32_t site_of(std::uint64_t index) {
    return static_cast<std::uint32_t>(index * 7 % 50);
}

class ResetSession : public test::Session {
protected:
    ResetSession() { target.groups_of_one = false; }

    void calls(unsigned count, std::uint8_t core = 0) {
        for (unsigned i = 0; i < count; ++i)
            target.call(site_of(target.next_index(core)), 10 + i % 3, core);
    }
    // Some frames of each stream of a session without a profile.
    void some_frames() {
        for (std::uint8_t core = 0; core < target.cores; ++core) {
            for (unsigned frames = 0; frames < 3; ++frames) {
                calls(20, core);
                target.flush();
            }
            target.stats(false, core);
        }
        target.console("text");
        reply();
    }
    void reply() {
        protocol::Writer out(target.payload());
        out.fixed(std::uint32_t{1});
        out.fixed(std::uint8_t{0});
        out.fixed(std::uint8_t{0});
        target.frame(Stream::reply, 0, protocol::reply_head_bytes);
    }
    // Loses the last frame.
    void take_last() {
        target.frame_ends.pop_back();
        target.bytes.resize(target.frame_ends.back());
    }
    void read() override {
        Session::read();
        std::uint64_t invented = 0;
        for (std::size_t i = 0; i < sink.records.size(); ++i) {
            invented += sink.records[i].kind() != protocol::Kind::call ||
                        sink.records[i].site_low() >> 3 != site_of(sink.indices[i].second);
        }
        EXPECT_EQ(invented, 0u);
    }
    void expect_nothing_lost() {
        EXPECT_EQ(counters.lost, 0u);
        EXPECT_EQ(counters.lost_frames, 0u);
        EXPECT_EQ(counters.gaps, 0u);
        EXPECT_EQ(counters.duplicate_frames, 0u);
        EXPECT_EQ(counters.undecoded_frames, 0u);
        EXPECT_EQ(counters.malformed_frames, 0u);
        EXPECT_EQ(counters.inconsistent, 0u);
    }
};

TEST_F(ResetSession, TheJumpIsNoLossInAnyStream) {
    target.cores = 2;
    target.hello();
    some_frames();
    target.warm_reset(4096);
    target.hello();
    some_frames();
    target.hello();
    finish_and_read();
    expect_nothing_lost();
    EXPECT_EQ(counters.delivered, 240u);
    EXPECT_EQ(counters.recovered_sessions, 1u);
    EXPECT_TRUE(counters.complete);
}

TEST_F(ResetSession, ASecondResetIsAnotherJump) {
    target.hello();
    some_frames();
    for (const std::uint32_t from : {4096u, 4101u, 1u << 30}) {
        target.warm_reset(from);
        target.hello();
        some_frames();
    }
    finish_and_read();
    expect_nothing_lost();
    EXPECT_EQ(counters.delivered, 240u);
    EXPECT_EQ(counters.recovered_sessions, 1u);
}

TEST_F(ResetSession, TheRestMayBeAllThatIsHeard) {
    some_frames();
    target.bytes.clear();
    target.warm_reset(4096);
    target.hello();
    some_frames();
    finish_and_read();
    EXPECT_EQ(counters.lost_frames, 0u);
    EXPECT_EQ(counters.lost, 60u);
    EXPECT_EQ(counters.delivered, 60u);
    EXPECT_EQ(counters.recovered_sessions, 1u);
}

TEST_F(ResetSession, FramesFromBeforeTheResetWaitForTheHelloToo) {
    some_frames();
    target.warm_reset(4096);
    target.hello();
    some_frames();
    finish_and_read();
    expect_nothing_lost();
    EXPECT_EQ(counters.delivered, 120u);
}

TEST_F(ResetSession, FramesLostBeforeTheResetAreCountedByRecords) {
    target.hello();
    some_frames();
    calls(30);
    target.flush();
    take_last();
    target.warm_reset(4096);
    target.hello();
    some_frames();
    finish_and_read();
    EXPECT_EQ(counters.lost, 30u);
    EXPECT_EQ(counters.gaps, 1u);
    EXPECT_EQ(counters.delivered, 120u);
}

TEST_F(ResetSession, FramesLostAfterTheResetAreLost) {
    target.hello();
    some_frames();
    target.warm_reset(4096);
    target.hello();
    calls(20);
    target.flush();
    take_last();  // the key frame
    calls(20);
    target.flush();
    target.console("one");
    take_last();
    target.console("two");
    finish_and_read();
    EXPECT_EQ(counters.lost_frames, 2u);
    EXPECT_EQ(counters.lost, 40u);
    EXPECT_EQ(counters.undecoded_frames, 1u);
    EXPECT_EQ(counters.gaps, 2u);
}

// The first hello after the reset is lost. Until the next one arrives, the jump looks like a loss.
TEST_F(ResetSession, ALateHelloTakesTheJumpBack) {
    target.cores = 2;
    target.hello();
    some_frames();
    target.warm_reset(4096);
    target.hello();
    take_last();
    some_frames();
    target.console("one");
    take_last();
    target.console("two");
    reader.feed(target.bytes);
    EXPECT_GT(reader.counters().lost_frames, 4000u);
    target.bytes.clear();
    target.hello();
    finish_and_read();
    EXPECT_EQ(counters.lost_frames, 2u);  // a hello and a console frame
    EXPECT_EQ(counters.gaps, 2u);
    EXPECT_EQ(counters.lost, 0u);
    EXPECT_EQ(counters.delivered, 240u);
    EXPECT_EQ(counters.recovered_sessions, 1u);
}

TEST_F(ResetSession, WithoutAnyHelloTheJumpIsALossAndNothingIsInvented) {
    target.hello();
    some_frames();
    target.warm_reset(4096);
    target.hello();
    take_last();
    calls(20);
    target.flush();
    take_last();  // the key frame is lost, too
    some_frames();
    finish_and_read();
    EXPECT_GT(counters.lost_frames, 4000u);
    EXPECT_EQ(counters.undecoded_frames, 3u);
    EXPECT_EQ(counters.lost, 80u);
}

// The limit may be the next number by chance. Then there is no jump, but a new group begins.
TEST_F(ResetSession, ANumberThatGoesOnIsAResetToo) {
    target.hello();
    for (unsigned frames = 0; frames < 5; ++frames) calls(20), target.flush();
    target.warm_reset(5);
    target.hello();
    calls(20);
    target.flush();
    calls(20);
    target.flush();
    read();
    EXPECT_EQ(counters.delivered, 140u);
    EXPECT_EQ(counters.undecoded_frames, 0u);
    EXPECT_EQ(counters.duplicate_frames, 0u);
}

TEST_F(ResetSession, AFrameThatComesTwiceCostsNothing) {
    target.hello();
    for (unsigned frames = 0; frames < 6; ++frames) {
        const auto begin = static_cast<long>(target.bytes.size());
        calls(20);
        target.flush();
        const Bytes again(target.bytes.begin() + begin, target.bytes.end());
        target.bytes.insert(target.bytes.end(), again.begin(), again.end());
    }
    finish_and_read();
    EXPECT_EQ(counters.duplicate_frames, 6u);
    EXPECT_EQ(counters.undecoded_frames, 0u);
    EXPECT_EQ(counters.delivered, 120u);
}

// Older targets lack this field: the boot after the reset uses the same numbers again.
class OldTarget : public ResetSession, public testing::WithParamInterface<unsigned> {
protected:
    void run(bool hello_comes) {
        target.hello();
        for (unsigned frames = 0; frames < 6; ++frames) calls(20), target.flush();
        target.warm_reset(6 - GetParam(), false);
        if (hello_comes) target.hello();
        for (unsigned frames = 0; frames < 6; ++frames) calls(20), target.flush();
        target.finish();
        read();
        EXPECT_EQ(counters.duplicate_frames, GetParam());
        EXPECT_EQ(counters.delivered, 120u);
        EXPECT_EQ(counters.lost, 120u);
        EXPECT_EQ(counters.undecoded_frames, 6 - GetParam());
    }
};
INSTANTIATE_TEST_SUITE_P(Lag, OldTarget, testing::Values(1u, 2u, 5u));
TEST_P(OldTarget, FramesThatUseNumbersAgainAreNotDecodedByTheOldModel) { run(true); }
TEST_P(OldTarget, NorIfItsHelloIsLost) { run(false); }

}  // namespace
}  // namespace nopscope::host
