// SPDX-License-Identifier: Apache-2.0
// How a session begins: resets, frames before a hello, frames kept over a reset, a wrong hello.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::session_hello_test {

TEST_F(Session, AResetIsANewSession) {
    hello_and_four_calls();
    target.finish();
    target.reset();
    target.hello();
    four_calls();
    target.drop(1);
    target.flush();
    read();
    EXPECT_EQ(told(),
              "delivered 16, dropped 1, sessions 2, unfinished_sessions 1, generated_at_least 1, "
              "not complete");
    EXPECT_EQ(sink.ended, 2);
}

TEST_F(Session, RecordsKeptOverAWarmResetStayInTheirSession) {
    hello_and_four_calls();
    target.recovered = true;
    target.hello();
    hello_and_four_calls();
    target.finish();
    target.reset();
    target.recovered = false;
    target.hello();
    read();
    EXPECT_EQ(
        told(),
        "delivered 16, sessions 2, unfinished_sessions 1, recovered_sessions 1, not complete");
}

TEST_F(Session, FramesWaitForTheirHello) {
    target.hello();
    const Bytes hello = std::exchange(target.bytes, {});
    four_calls();
    target.flush();
    target.bytes.insert(target.bytes.end(), hello.begin(), hello.end());
    four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 16");
}

TEST_F(Session, FramesWithoutAHelloAreCountedAndBounded) {
    two_megabytes();
    ASSERT_GT(target.bytes.size(), 2u << 20);
    read();
    EXPECT_EQ(told(), fmt::format("frames_without_hello {}, sessions 0, not complete",
                                  target.frame_ends.size()));
}

TEST_F(Session, OnlySoMuchWaitsForAHello) {
    two_megabytes();
    target.hello();
    finish_and_read();
    EXPECT_GT(counters.frames_without_hello, 1000u);
    EXPECT_GT(counters.delivered, 100'000u);
    EXPECT_EQ(counters.generated, 600'000u);
    EXPECT_GT(counters.lost, 200'000u);
}

TEST_F(Session, AnotherFormatVersionIsRefused) {
    target.version = 9;
    hello_and_four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "frames_without_hello 2, sessions 0, not complete");
    EXPECT_EQ(counters.refused_version, 9);
}

TEST_F(Session, AHelloWithAWrongLengthIsMalformed) {
    target.hello();
    Bytes payload(target.payload(), target.payload() + protocol::hello_head_bytes);
    target = {};
    payload.insert(payload.end(), {2, 200, 'b'});
    target.frame(Stream::hello, payload);
    four_calls();
    target.flush();
    read();
    EXPECT_EQ(told(), "malformed_frames 1, frames_without_hello 1, sessions 0, not complete");
}

TEST_F(Session, AnotherImageAfterAResetIsLeftOut) {
    hello_and_four_calls();
    target.finish();
    target.reset();
    target.build_id = "another";
    hello_and_four_calls();
    finish_and_read();
    EXPECT_EQ(told(), "delivered 8, frames_without_hello 2, other_image_sessions 1, not complete");
}

}  // namespace nopscope::host::test::session_hello_test
