// SPDX-License-Identifier: Apache-2.0
// What the decoder makes of one core's records: identity, nesting and time.
#include <random>
#include <tuple>
#include <vector>

#include "tests/unit/host/decoder_fixture.hpp"

namespace nopscope::host {
namespace {

using test::Calls;
using test::Closed;
using test::Decoder;

TEST_F(Decoder, NestedCallsAndSelfTime) {
    const auto a = entry(1, 100);
    const auto b = entry(2, 130);
    ret(b, 150);
    const auto c = entry(3, 160);
    ret(c, 200);
    ret(a, 300);
    ASSERT_EQ(calls.list.size(), 3u);
    expect(0, 2, Outcome::returned, 20, 20);
    expect(1, 3, Outcome::returned, 40, 40);
    expect(2, 1, Outcome::returned, 200, 140);
    EXPECT_EQ(calls.list[0].parent, 1u);
    EXPECT_EQ(decoder.counters().orphan_returns, 0u);
}

TEST_F(Decoder, RecursionCountsTimeOnce) {
    const auto a = entry(1, 0);
    const auto b = entry(1, 10);
    const auto c = entry(1, 20);
    ret(c, 30);
    ret(b, 50);
    const auto d = entry(1, 60);
    ret(d, 65);
    ret(a, 100);
    const auto e = entry(1, 200);
    ret(e, 203);
    EXPECT_EQ(calls.totals[1], 103u);
    EXPECT_EQ(calls.calls[1], 5u);
    std::uint64_t self = 0;
    for (const auto& call : calls.list) self += call.self;
    EXPECT_EQ(self, 103u);
}

TEST_F(Decoder, LongjmpAsTheTargetTellsIt) {
    const auto a = entry(1, 0);
    const auto b = entry(2, 10);
    const auto c = entry(3, 20);
    ret(c, 30, true);
    ret(b, 31, true);
    const auto d = entry(4, 40);
    ret(d, 50);
    ret(a, 60);
    // The target's time from the first such record to the next event is the tracer's.
    expect(0, 3, Outcome::unwound, 10, 10);
    expect(1, 2, Outcome::unwound, 20, 10);
    expect(3, 1, Outcome::returned, 50, 20);
    EXPECT_EQ(calls.list[2].parent, 1u);
    EXPECT_EQ(decoder.tracer_ticks(), 10u);
}

TEST_F(Decoder, LongjmpThatOnlyTheOuterReturnShows) {
    const auto a = entry(1, 0);
    entry(2, 10);
    entry(3, 20);
    ret(a, 60);
    expect(0, 3, Outcome::unwound, 40, 40);
    expect(1, 2, Outcome::unwound, 50, 10);
    expect(2, 1, Outcome::returned, 60, 10);
    EXPECT_FALSE(calls.list[0].incomplete);
}

TEST_F(Decoder, CallsWithoutTimeAreOnlyCounted) {
    const auto a = entry(1, 0);
    call(2, 5);
    call(2, 6);
    ret(a, 10);
    EXPECT_EQ(calls.calls[2], 2u);
    ASSERT_EQ(calls.list.size(), 1u);
    expect(0, 1, Outcome::returned, 10, 10);
}

TEST_F(Decoder, SmallNegativeDeltasAreNoTime) {
    const auto a = entry(1, 100);
    const auto b = entry(2, 98);
    ret(b, 97);
    ret(a, 120);
    expect(0, 2, Outcome::returned, 0, 0);
    expect(1, 1, Outcome::returned, 20, 20);
}

TEST_F(Decoder, AReturnOfNothingOpenInventsNothing) {
    entry(1, 0);
    ret(12345, 10);
    ret(1, 20);  // its own index, which no call has
    EXPECT_TRUE(calls.list.empty());
    EXPECT_EQ(decoder.counters().orphan_returns, 2u);
}

TEST_F(Decoder, IdentityWraps) {
    next = protocol::entry_index_mask - 1;
    const auto a = entry(1, 0);
    const auto b = entry(2, 10);
    const auto c = entry(3, 20);  // index 2^28
    ret(c, 30);
    ret(b, 40);
    ret(a, 50);
    ASSERT_EQ(calls.list.size(), 3u);
    EXPECT_EQ(decoder.counters().orphan_returns, 0u);
}

TEST_F(Decoder, ACallLongerThanItsIdentityStillReturns) {
    const auto a = entry(1, 0);
    const auto b = entry(2, 10);
    next += (std::uint64_t{1} << 28) * 3;  // that many short calls happen in between
    const auto c = entry(3, 20);
    ret(c, 30);
    ret(b, 40);
    ret(a, 50);
    ASSERT_EQ(calls.list.size(), 3u);
    expect(2, 1, Outcome::returned, 50, 20);
}

TEST_F(Decoder, ALongCallBelowOneThatNeverReturnedStillReturns) {
    const auto a = entry(1, 0);
    entry(2, 10);
    next += (std::uint64_t{1} << 28) * 3;
    ret(a, 50);
    ASSERT_EQ(calls.list.size(), 2u);
    expect(0, 2, Outcome::unwound, 40, 40);
    expect(1, 1, Outcome::returned, 50, 10);
}

TEST_F(Decoder, TracerTimeCountsForNoCallExceptThoseOfItsInterrupts) {
    const auto a = entry(1, 0);
    extended(protocol::Extended::tracer_begin, 20);
    const auto irq = entry(7, 100);
    const auto in_irq = entry(8, 110);
    ret(in_irq, 130);
    ret(irq, 150);
    extended(protocol::Extended::tracer_end, 1020);
    ret(a, 1040);
    expect(1, 7, Outcome::returned, 50, 30);
    expect(2, 1, Outcome::returned, 90, 40);  // self time 20 + 20, and 50 in the interrupt
    EXPECT_EQ(decoder.tracer_ticks(), 950u);
}

TEST_F(Decoder, CallsThatALongjmpLeavesEndWhereTheTracerBegan) {
    const auto a = entry(1, 0);
    const auto b = entry(2, 10);
    const auto c = entry(3, 20);
    extended(protocol::Extended::tracer_begin, 50, 9);
    ret(c, 50, true);
    ret(entry(7, 55), 60);  // called in an interrupt
    ret(b, 70, true);
    extended(protocol::Extended::tracer_end, 150, 12);
    ret(a, 160);
    ASSERT_EQ(calls.list.size(), 4u);
    expect(0, 3, Outcome::unwound, 30, 30);
    expect(1, 7, Outcome::returned, 5, 5);
    expect(2, 2, Outcome::unwound, 45, 10);  // with the interrupt's 5, from before its end
    expect(3, 1, Outcome::returned, 65, 20);
    EXPECT_EQ(decoder.tracer_ticks(), 95u);
    EXPECT_EQ(calls.instructions_beside.size(), 2u);
    EXPECT_EQ(calls.instructions_beside[4], 9u) << "of the innermost";
    EXPECT_EQ(calls.instructions_beside[2], 12u) << "of the one that goes on";
}

TEST_F(Decoder, ADroppedEndOrBeginIsNoTracerTime) {
    const auto a = entry(1, 0);
    const auto b = entry(2, 10);
    extended(protocol::Extended::tracer_begin, 20);
    ret(b, 40);
    extended(protocol::Extended::tracer_end, 50);  // its begin was dropped
    ret(a, 60);
    EXPECT_EQ(decoder.tracer_ticks(), 0u);
    expect(1, 1, Outcome::returned, 60, 30);
}

TEST_F(Decoder, OpenAtTheEnd) {
    entry(1, 0);
    const auto b = entry(2, 10);
    ret(b, 25);
    entry(3, 30);
    call(4, 50);
    decoder.finish();
    expect(1, 3, Outcome::open, 20, 20);
    expect(2, 1, Outcome::open, 50, 15);
}

// The caller's return shows that it was open all along. The callee's return is lost.
TEST_F(Decoder, AGapLosesAReturn) {
    const auto a = entry(1, 0);
    entry(2, 10);
    call(9, 30);  // the last record before the gap
    gap(5);
    const auto c = entry(3, 100);
    ret(c, 110);
    ret(a, 150);
    ASSERT_EQ(calls.list.size(), 3u);
    expect(0, 3, Outcome::returned, 10, 10);
    EXPECT_EQ(calls.list[0].parent, 999u);  // its caller is unknown
    EXPECT_FALSE(calls.list[0].incomplete);
    expect(1, 2, Outcome::lost, 20, 20);  // its time ends at the gap
    EXPECT_TRUE(calls.list[1].incomplete);
    // Of 150 ticks, 20 belong to the lost call, 70 to the gap and 10 to the later call.
    expect(2, 1, Outcome::returned, 150, 50);
    EXPECT_TRUE(calls.list[2].incomplete);
}

TEST_F(Decoder, AGapInsideACallThatReturns) {
    const auto a = entry(1, 0);
    gap(4);
    ret(a, 100);
    ASSERT_EQ(calls.list.size(), 1u);
    expect(0, 1, Outcome::returned, 100, 0);
    EXPECT_TRUE(calls.list[0].incomplete);
    const auto b = entry(2, 120);
    ret(b, 130);
    EXPECT_FALSE(calls.list[1].incomplete);
    EXPECT_EQ(calls.list[1].parent, 0u);
}

TEST_F(Decoder, SeveralGapsBeforeAReturn) {
    const auto a = entry(1, 0);
    entry(2, 10);
    gap(3);  // gap from 10 to 20
    entry(3, 20);
    call(9, 25);
    gap(3);  // gap from 25 to 40
    const auto d = entry(4, 40);
    ret(d, 45);
    ret(a, 100);
    ASSERT_EQ(calls.list.size(), 4u);
    expect(1, 3, Outcome::lost, 5, 5);
    expect(2, 2, Outcome::lost, 0, 0);
    // 10 before the gaps, 10 + 15 in gaps, 5 of call 3, 5 of call 4. The rest is self time.
    expect(3, 1, Outcome::returned, 100, 65);
}

TEST_F(Decoder, ManyGapsDoNotGrowTheStackAndAreNoSelfTime) {
    const auto a = entry(1, 0);
    std::uint64_t at = 0;
    for (int i = 0; i < 100000; ++i) {
        entry(2, at += 10);
        gap(1);
    }
    ret(a, at + 10);
    ASSERT_EQ(calls.list.size(), 100001u);
    expect(100000, 1, Outcome::returned, at + 10, 10);  // before the first of the lost calls
    EXPECT_EQ(decoder.counters().too_deep, 0u);
    for (std::size_t i = 0; i < 100000; ++i) ASSERT_EQ(calls.list[i].self, 0u);
}

TEST_F(Decoder, TooDeepIsCountedNotStored) {
    for (std::uint64_t i = 0; i < CallDecoder<Calls>::max_depth + 10; ++i) entry(1, i);
    EXPECT_EQ(decoder.counters().too_deep, 10u);
    decoder.finish();
    EXPECT_EQ(calls.list.size(), CallDecoder<Calls>::max_depth);
}

TEST_F(Decoder, ASecondSessionStartsAfresh) {
    entry(1, 1000);
    decoder.finish();
    next = 0;
    const auto a = entry(1, 10);
    ret(a, 15);
    expect(0, 1, Outcome::open, 0, 0);
    expect(1, 1, Outcome::returned, 5, 5);
}

// Takes the same records one by one, and as Profile does: plain records in a separate loop.
class PlainRecords : public testing::TestWithParam<unsigned> {
protected:
    static constexpr std::size_t count = 400;

    // Nested calls, inner and outer returns, longjmp, the tracer's time, calls without time.
    void make() {
        std::vector<std::uint64_t> open;
        for (std::uint64_t index = 0; index < count; ++index) {
            clock += 1 + random() % 50;
            const unsigned what = random() % 40;
            if (what == 0) {
                put(protocol::Kind::extended,
                    static_cast<std::uint32_t>(protocol::Extended::tracer_begin));
            } else if (what == 1) {
                put(protocol::Kind::extended,
                    static_cast<std::uint32_t>(protocol::Extended::tracer_end));
            } else if (what == 2) {
                put(protocol::Kind::call, 9);
            } else if (what < 22 || open.empty()) {
                open.push_back(index);
                put(protocol::Kind::entry, 1 + random() % 8);
            } else {
                const std::size_t left = what < 25 && open.size() > 2 ? 2 : 1;
                open.resize(open.size() - left + 1);
                put(protocol::Kind::ret,
                    static_cast<std::uint32_t>(open.back()) << 1 | (what == 25 ? 1 : 0));
                open.pop_back();
            }
        }
    }
    void put(protocol::Kind kind, std::uint32_t payload) {
        records.push_back({protocol::make_record(kind, payload, clock), clock});
    }
    // Between two parts, records are missing or the core ran another context.
    template <typename Take>
    Calls taken(Take take) const {
        Calls calls;
        CallDecoder<Calls> decoder(calls);
        for (std::size_t part = 0; part < 4; ++part) {
            take(decoder, std::span(records).subspan(part * count / 4, count / 4),
                 part * count / 4);
            if (part == 0) decoder.resume(records[count / 4 - 1].clock + 1, 1);
            if (part == 1) decoder.on_gap();
        }
        decoder.finish();
        return calls;
    }

    std::minstd_rand random{GetParam()};
    std::uint64_t clock = 1000;
    std::vector<protocol::StampedRecord> records;
};

TEST_P(PlainRecords, AreTakenAsOthersAre) {
    make();
    std::size_t plain = 0;
    const Calls one_by_one = taken([](auto& decoder, auto these, std::uint64_t index) {
        for (const protocol::StampedRecord& record : these)
            decoder.on_event(protocol::event_of(record, index++));
    });
    const Calls in_loops = taken([&](auto& decoder, auto these, std::uint64_t index) {
        while (!these.empty()) {
            const std::size_t taken = decoder.take_plain(these, index);
            plain += taken;
            index += taken;
            these = these.subspan(taken);
            if (these.empty()) return;
            decoder.on_event(protocol::event_of(these.front(), index++));
            these = these.subspan(1);
        }
    });
    EXPECT_GT(plain, count / 4);
    EXPECT_EQ(in_loops.totals, one_by_one.totals);
    EXPECT_EQ(in_loops.calls, one_by_one.calls);
    ASSERT_EQ(in_loops.list.size(), one_by_one.list.size());
    for (std::size_t i = 0; i < in_loops.list.size(); ++i) {
        const Closed &in_loop = in_loops.list[i], &alone = one_by_one.list[i];
        EXPECT_EQ(std::tie(in_loop.site, in_loop.outcome, in_loop.incomplete, in_loop.ticks,
                           in_loop.self, in_loop.parent),
                  std::tie(alone.site, alone.outcome, alone.incomplete, alone.ticks, alone.self,
                           alone.parent))
            << i;
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, PlainRecords, testing::Range(1u, 21u));

}  // namespace
}  // namespace nopscope::host
