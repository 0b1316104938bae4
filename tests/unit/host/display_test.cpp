// SPDX-License-Identifier: Apache-2.0
// Text for an output that takes it slowly or never.
#include "host-tools/base/display.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::display_test {

class DisplayTest : public testing::Test {
protected:
    DisplayTest() { EXPECT_EQ(pipe(ends), 0); }
    // The display's thread may still write to the other end.
    ~DisplayTest() override { close(ends[0]); }
    static bool never() { return false; }

    int ends[2];
};

TEST_F(DisplayTest, ShowsAllInOrder) {
    Display display(ends[1]);
    display.show("one ");
    display.show("two");
    display.finish(5s, never);
    EXPECT_FALSE(display.is_behind());
    EXPECT_EQ(display.hidden_bytes(), 0u);
    char text[16] = {};
    EXPECT_EQ(read(ends[0], text, sizeof text), 7);
    EXPECT_EQ(std::string(text), "one two");
}

TEST_F(DisplayTest, NeverWaitsAndCountsWhatIsNotShown) {
    Display display(ends[1]);
    const std::string piece(1 << 16, 'x');
    for (int n = 0; n < 64; ++n) display.show(piece);  // a pipe holds 64 kB, and the display 1 MiB
    EXPECT_TRUE(display.is_behind());
    EXPECT_GE(display.hidden_bytes(), 40u << 16);
    display.finish(50ms, never);
    EXPECT_GE(display.hidden_bytes(), 62u << 16);
    EXPECT_LE(display.hidden_bytes(), 64u << 16);
}

TEST_F(DisplayTest, FinishesWhenItIsToldTo) {
    Display display(ends[1]);
    display.show(std::string(1 << 18, 'x'));
    display.finish(1h, [] { return true; });
    EXPECT_GT(display.hidden_bytes(), 0u);
}

TEST_F(DisplayTest, AReaderThatHasGoneIsAnErrorAndNothingIsCounted) {
    signal(SIGPIPE, SIG_IGN);
    int other[2];
    ASSERT_EQ(pipe(other), 0);
    close(other[0]);
    Display display(other[1]);
    display.show("lost");
    display.finish(5s, never);
    EXPECT_EQ(display.error(), EPIPE);
    display.show("more");
    EXPECT_EQ(display.hidden_bytes(), 0u);
    close(other[1]);
}

TEST_F(DisplayTest, KnowsOneFileByTwoDescriptors) {
    const int copy = dup(ends[1]);
    EXPECT_TRUE(is_same_file(ends[1], copy));
    EXPECT_FALSE(is_same_file(ends[1], STDIN_FILENO));
    close(copy);
}

}  // namespace nopscope::host::test::display_test
