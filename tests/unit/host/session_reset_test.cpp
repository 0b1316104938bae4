// SPDX-License-Identifier: Apache-2.0
// A session that continues after a warm reset: its sequence numbers jump, which is no loss.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_reset_test {

// The site of the record with this index, as the target recorded it.
constexpr std::uint32_t site_of(std::uint64_t index) {
    return static_cast<std::uint32_t>(index * 7 % 50);
}

class ResetSession : public Session {
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

struct Case {
    const char* name;
    std::uint8_t cores;
    const char* course;  // words of Course::take()
    const char* told;
};
void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

class Course : public ResetSession, public testing::WithParamInterface<Case> {
protected:
    void take(const std::string& word) {
        if (word == "boot") boot();
        if (word == "hello") target.hello();
        if (word == "some") some_frames();
        if (word == "frame") frames_of_calls(1);
        if (word == "text") target.console("text");
        if (word == "lost") take_last();
        if (word == "unheard") target.bytes.clear();
        if (word.starts_with("reset"))
            reset(static_cast<std::uint32_t>(std::stoul(word.substr(5))));
    }
};

TEST_P(Course, IsToldAsItWas) {
    target.cores = GetParam().cores;
    std::istringstream words(GetParam().course);
    for (std::string word; words >> word;) take(word);
    finish_and_read();
    EXPECT_EQ(told(), GetParam().told);
}

INSTANTIATE_TEST_SUITE_P(
    Resets, Course,
    testing::Values(Case{"the jump is no loss in any stream", 2, "boot reset4096 some hello",
                         "delivered 240, recovered_sessions 1"},
                    Case{"a second reset is another jump", 1,
                         "boot reset4096 some reset4101 some reset1073741824 some",
                         "delivered 240, recovered_sessions 1"},
                    Case{"the rest may be all that is heard", 1, "some unheard reset4096 some",
                         "delivered 60, lost 60, gaps 1, recovered_sessions 1"},
                    Case{"frames from before the reset wait for the hello, too", 1,
                         "some reset4096 some", "delivered 120, recovered_sessions 1"},
                    Case{"frames lost before the reset are counted by records", 1,
                         "boot frame lost reset4096 some",
                         "delivered 120, lost 20, gaps 1, recovered_sessions 1"},
                    Case{"frames lost after the reset are lost; the first was the key frame", 1,
                         "boot reset4096 frame lost frame text lost text",
                         "delivered 60, lost 40, gaps 2, lost_frames 2, undecoded_frames 1, "
                         "recovered_sessions 1"},
                    Case{"without any hello the jump is a loss; the key frame is lost, too", 1,
                         "boot reset4096 lost frame lost some",
                         "delivered 60, lost 80, gaps 4, lost_frames 16379, undecoded_frames 3"}));

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
