// SPDX-License-Identifier: Apache-2.0
// A session that continues after a warm reset. Its sequence numbers jump, which is no loss. The
// reader decodes only records that the target made.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_reset_test {

using protocol::Stream;

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
    void frames_of_calls(unsigned count, std::uint8_t core = 0) {
        for (unsigned frames = 0; frames < count; ++frames) {
            calls(20, core);
            target.flush();
        }
    }
    // Some frames of each stream of a session without a profile.
    void some_frames() {
        for (std::uint8_t core = 0; core < target.cores; ++core) {
            frames_of_calls(3, core);
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
    void boot() {
        target.hello();
        some_frames();
    }
    void reset(std::uint32_t from = 4096) {
        target.warm_reset(from);
        target.hello();
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
};

TEST_F(ResetSession, TheJumpIsNoLossInAnyStream) {
    target.cores = 2;
    boot();
    reset();
    some_frames();
    target.hello();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 240, recovered_sessions 1");
}

TEST_F(ResetSession, ASecondResetIsAnotherJump) {
    boot();
    for (const std::uint32_t from : {4096u, 4101u, 1u << 30}) {
        reset(from);
        some_frames();
    }
    finish_and_read();
    EXPECT_EQ(told(), "delivered 240, recovered_sessions 1");
}

TEST_F(ResetSession, TheRestMayBeAllThatIsHeard) {
    some_frames();
    target.bytes.clear();
    reset();
    some_frames();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 60, lost 60, gaps 1, recovered_sessions 1");
}

TEST_F(ResetSession, FramesFromBeforeTheResetWaitForTheHelloToo) {
    some_frames();
    reset();
    some_frames();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 120, recovered_sessions 1");
}

TEST_F(ResetSession, FramesLostBeforeTheResetAreCountedByRecords) {
    boot();
    calls(30);
    target.flush();
    take_last();
    reset();
    some_frames();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 120, lost 30, gaps 1, recovered_sessions 1");
}

TEST_F(ResetSession, FramesLostAfterTheResetAreLost) {
    boot();
    reset();
    frames_of_calls(1);
    take_last();  // the key frame
    frames_of_calls(1);
    target.console("one");
    take_last();
    target.console("two");
    finish_and_read();
    EXPECT_EQ(
        told(),
        "delivered 60, lost 40, gaps 2, lost_frames 2, undecoded_frames 1, recovered_sessions 1");
}

// The first hello after the reset is lost. Until the next one arrives, the jump looks like a loss.
TEST_F(ResetSession, ALateHelloTakesTheJumpBack) {
    target.cores = 2;
    boot();
    reset();
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
    EXPECT_EQ(told(), "delivered 240, gaps 2, lost_frames 2, recovered_sessions 1");
}

TEST_F(ResetSession, WithoutAnyHelloTheJumpIsALossAndNothingIsInvented) {
    boot();
    reset();
    take_last();
    frames_of_calls(1);
    take_last();  // the key frame is lost, too
    some_frames();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 60, lost 80, gaps 4, lost_frames 16379, undecoded_frames 3");
}

// The limit may be the next number by chance. Then there is no jump, but a new group begins.
TEST_F(ResetSession, ANumberThatGoesOnIsAResetToo) {
    target.hello();
    frames_of_calls(5);
    reset(5);
    frames_of_calls(2);
    read();
    EXPECT_EQ(told(),
              "delivered 140, unfinished_sessions 1, recovered_sessions 1, generated_at_least 1, "
              "not complete");
}

TEST_F(ResetSession, AFrameThatComesTwiceCostsNothing) {
    target.hello();
    for (unsigned frames = 0; frames < 6; ++frames) {
        const auto begin = static_cast<long>(target.bytes.size());
        frames_of_calls(1);
        const Bytes again(target.bytes.begin() + begin, target.bytes.end());
        target.bytes.insert(target.bytes.end(), again.begin(), again.end());
    }
    finish_and_read();
    EXPECT_EQ(told(), "delivered 120, duplicate_frames 6");
}

// Older targets lack this field: the boot after the reset uses the same numbers again.
class OldTarget : public ResetSession, public testing::WithParamInterface<unsigned> {
protected:
    void run(bool hello_comes) {
        target.hello();
        frames_of_calls(6);
        target.warm_reset(6 - GetParam(), false);
        if (hello_comes) target.hello();
        frames_of_calls(6);
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

}  // namespace nopscope::host::test::session_reset_test
