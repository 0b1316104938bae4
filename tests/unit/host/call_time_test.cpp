// SPDX-License-Identifier: Apache-2.0
// Which call gets the time where records are missing, and while a context does not run.
#include "tests/unit/host/decoder_fixture.hpp"

namespace nopscope::host {
namespace {

using test::Decoder;

// No record shows that the call was still open, and its context did not run.
TEST_F(Decoder, AContextThatDoesNotRunAfterAGapHasNoTimeOfIt) {
    entry(1, 0);
    entry(2, 20);
    decoder.suspend(50);
    gap(3);
    decoder.resume(1000, 400);  // as at the session's end; 400 are the tracer's, in another context
    decoder.finish();
    expect(0, 2, Outcome::open, 580, 30);
    expect(1, 1, Outcome::open, 600, 20);
    EXPECT_TRUE(calls.list[0].incomplete);
}

TEST_F(Decoder, TimeInOtherContextsWithAGapIsNoSelfTime) {
    const auto a = entry(1, 0);
    decoder.suspend(50);
    gap(3);
    decoder.resume(500, 0);
    decoder.suspend(510);
    gap(2);
    decoder.resume(800, 0);
    call(9, 810);
    ret(a, 830);
    expect(0, 1, Outcome::returned, 830, 50 + 20);
}

TEST_F(Decoder, AfterAGapTheSessionsEndShowsNoCallToBeOpen) {
    entry(1, 0);
    entry(2, 10);
    call(9, 30);
    gap(1);
    ret(entry(3, 100), 110);
    call(9, 150);
    decoder.finish();
    expect(0, 3, Outcome::returned, 10, 10);
    expect(1, 2, Outcome::open, 140, 20);
    expect(2, 1, Outcome::open, 150, 10);
}

TEST_F(Decoder, AfterSeveralGapsTheSessionsEndShowsNoCallToBeOpen) {
    entry(1, 0);
    call(9, 5);
    gap(1);
    entry(2, 100);
    call(9, 120);
    gap(1);
    call(9, 180);
    entry(3, 200);
    call(9, 210);
    gap(1);
    decoder.finish();
    expect(0, 3, Outcome::open, 10, 10);
    expect(1, 2, Outcome::open, 110, 20);
    expect(2, 1, Outcome::open, 210, 5);
}

// A task that pumps outside of all calls is switched out meanwhile.
TEST_F(Decoder, TimeInOtherContextsIsNotTracerTime) {
    extended(protocol::Extended::tracer_begin, 10);
    decoder.suspend(20);
    decoder.resume(520, 0);
    extended(protocol::Extended::tracer_end, 530);
    EXPECT_EQ(decoder.tracer_ticks(), 20u);
    const auto a = entry(1, 540);
    extended(protocol::Extended::tracer_begin, 550);
    decoder.suspend(560);
    decoder.resume(700, 0);
    extended(protocol::Extended::tracer_end, 710);
    ret(a, 720);
    EXPECT_EQ(decoder.tracer_ticks(), 40u);
    expect(0, 1, Outcome::returned, 160, 20);
}

TEST_F(Decoder, AGapsLengthIsNoSelfTime) {
    const auto a = entry(1, 0);
    gap(5);
    const auto b = entry(2, 100);
    ret(b, 110);
    gap(3);
    const auto c = entry(3, 200);
    ret(c, 205);
    ret(a, 250);
    ASSERT_EQ(calls.list.size(), 3u);
    expect(2, 1, Outcome::returned, 250, 250 - (100 + 10) - (90 + 5));
}

TEST_F(Decoder, AGapInTheTracer) {
    const auto a = entry(1, 0);
    extended(protocol::Extended::tracer_begin, 10);
    extended(protocol::Extended::sync, 30);
    gap(2);
    ret(a, 100);
    EXPECT_EQ(decoder.tracer_ticks(), 20u);
    expect(0, 1, Outcome::returned, 80, 10);
}

}  // namespace
}  // namespace nopscope::host
