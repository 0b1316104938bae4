// SPDX-License-Identifier: Apache-2.0
// A session that continues after a warm reset: its sequence numbers jump, which is no loss.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_reset_test {

class ResetSession : public Session {
protected:
    ResetSession() { target.groups_of_one = false; }
    void read() override {
        Session::read();
        EXPECT_TRUE(std::all_of(sink.records.begin(), sink.records.end(), [](const auto& of) {
            return of.second.kind() == Kind::call && of.second.site_low() >> 3 == site_of(of.first);
        })) << "a record is invented";
    }
};

class ResetCourse : public CourseOf<ResetSession> {};
TEST_P(ResetCourse, AsItWas) { expect_told(); }

constexpr Course courses[] = {
    {"TheJumpIsNoLossInAnyStream", "hello some warm4096 hello some hello end",
     "delivered 240, recovered_sessions 1", 2},
    {"ASecondResetIsAnotherJump",
     "hello some warm4096 hello some warm4101 hello some warm1073741824 hello some end",
     "delivered 240, recovered_sessions 1"},
    {"TheRestMayBeAllThatIsHeard", "some unheard warm4096 hello some end",
     "delivered 60, lost 60, gaps 1, recovered_sessions 1"},
    {"FramesFromBeforeTheResetWaitForTheHelloToo", "some warm4096 hello some end",
     "delivered 120, recovered_sessions 1"},
    {"FramesLostBeforeTheResetAreCountedByRecords", "hello some frame lost warm4096 hello some end",
     "delivered 120, lost 20, gaps 1, recovered_sessions 1"},
    // The first frame was the key frame.
    {"FramesLostAfterTheResetAreLost",
     "hello some warm4096 hello frame lost frame text lost text end",
     "delivered 60, lost 40, gaps 2, lost_frames 2, undecoded_frames 1, recovered_sessions 1"},
    {"WithoutAnyHelloTheJumpIsALossAndTheKeyFrameIsLostToo",
     "hello some warm4096 hello lost frame lost some end",
     "delivered 60, lost 80, gaps 4, lost_frames 16379, undecoded_frames 3"},
    // The limit may be the next number by chance. Then there is no jump, but a new group begins.
    {"ANumberThatGoesOnIsAResetToo", "hello frame frame frame frame frame warm5 hello frame frame",
     "delivered 140, unfinished_sessions 1, recovered_sessions 1, generated_at_least 1, "
     "not complete"},
    {"AFrameThatComesTwiceCostsNothing", "hello frame twice frame twice frame twice end",
     "delivered 60, duplicate_frames 3"},
};
INSTANTIATE_TEST_SUITE_P(, ResetCourse, testing::ValuesIn(courses), name_of_course);

// The first hello after the reset is lost. Until the next one arrives, the jump looks like a loss.
TEST_F(ResetSession, ALateHelloTakesTheJumpBack) {
    target.cores = 2;
    take("hello some warm4096 hello lost some text lost text");
    EXPECT_GT(counted().lost_frames, 4000u);
    EXPECT_EQ(told_of("hello end"), "delivered 240, gaps 2, lost_frames 2, recovered_sessions 1");
}

// Older targets lack this field: the boot after the reset uses the same numbers again. The old
// model does not decode such frames, also if the hello is lost.
class OldTarget : public ResetSession,
                  public testing::WithParamInterface<std::tuple<unsigned, const char*>> {};
TEST_P(OldTarget, UsesNumbersAgain) {
    const auto [lag, hello] = GetParam();
    const std::string six = " frame frame frame frame frame frame ";
    take("hello" + six);
    target.warm_reset(6 - lag, false);
    take(hello + six + "end");
    read();
    EXPECT_EQ(counters.duplicate_frames, lag);
    EXPECT_EQ(counters.delivered, 120u);
    EXPECT_EQ(counters.lost, 120u);
    EXPECT_EQ(counters.undecoded_frames, 6 - lag);
}
INSTANTIATE_TEST_SUITE_P(, OldTarget,
                         testing::Combine(testing::Values(1u, 2u, 5u),
                                          testing::Values("hello", "")));

}  // namespace nopscope::host::test::session_reset_test
