// SPDX-License-Identifier: Apache-2.0
// How a session begins: resets, frames before a hello, frames kept over a reset, a wrong hello.
#include "tests/unit/host/session_fixture.hpp"

namespace nopscope::host {
namespace {

using test::Bytes;
using test::Session;

TEST_F(Session, AResetIsANewSession) {
    hello_and_four_calls();
    target.finish();
    target.reset();
    target.hello();
    four_calls();
    target.drop(1);
    target.flush();
    read();
    EXPECT_EQ(counters.sessions, 2u);
    EXPECT_EQ(counters.generated, 17u);
    EXPECT_EQ(counters.gaps, 0u);
    EXPECT_EQ(sink.ended, 2);
    EXPECT_FALSE(counters.complete) << "the second session did not finish";
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
    EXPECT_EQ(counters.sessions, 2u);
    EXPECT_EQ(counters.recovered_sessions, 1u);
    EXPECT_EQ(counters.delivered, 16u);
    EXPECT_EQ(counters.gaps, 0u);
}

TEST_F(Session, FramesWaitForTheirHello) {
    target.hello();
    const Bytes hello = std::exchange(target.bytes, {});
    four_calls();
    target.flush();
    target.bytes.insert(target.bytes.end(), hello.begin(), hello.end());
    four_calls();
    finish_and_read();
    EXPECT_EQ(counters.delivered, 16u);
    EXPECT_EQ(counters.gaps, 0u);
    EXPECT_EQ(counters.frames_without_hello, 0u);
}

TEST_F(Session, FramesWithoutAHelloAreCountedAndBounded) {
    two_megabytes();
    ASSERT_GT(target.bytes.size(), 2u << 20);
    read();
    EXPECT_EQ(counters.frames_without_hello, target.frame_ends.size());
    EXPECT_EQ(counters.delivered, 0u);
    EXPECT_EQ(counters.sessions, 0u);
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
    EXPECT_EQ(counters.refused_version, 9);
    EXPECT_EQ(counters.delivered, 0u);
    EXPECT_FALSE(counters.complete);
}

TEST_F(Session, AHelloWithAWrongLengthIsMalformed) {
    target.hello();
    test::Bytes payload(target.payload(), target.payload() + protocol::hello_head_bytes);
    target = {};
    payload.insert(payload.end(), {2, 200, 'b'});
    malformed(protocol::Stream::hello, payload);
    four_calls();
    target.flush();
    read();
    EXPECT_EQ(counters.malformed_frames, 1u);
    EXPECT_EQ(counters.sessions, 0u);
    EXPECT_EQ(counters.frames_without_hello, 1u);
}

TEST_F(Session, AnotherImageAfterAResetIsLeftOut) {
    hello_and_four_calls();
    target.finish();
    target.reset();
    target.build_id = "another";
    hello_and_four_calls();
    finish_and_read();
    EXPECT_EQ(counters.sessions, 1u);
    EXPECT_EQ(counters.other_image_sessions, 1u);
    EXPECT_EQ(counters.delivered, 8u);
    EXPECT_EQ(counters.frames_without_hello, 2u);
}

}  // namespace
}  // namespace nopscope::host
