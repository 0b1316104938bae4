// SPDX-License-Identifier: Apache-2.0
// What the decoder makes of one core's records: identity, nesting and time, also where records are
// missing and while a context does not run.
#include "host-tools/calls/call_decoder.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::call_decoder_test {

// Sites stand for functions. Nodes are numbered paths.
struct Calls {
    Begun on_entry(std::uint32_t parent, std::uint32_t offset) {
        nodes.push_back({parent, offset / 8});
        ++calls[offset / 8];
        return {{offset / 8, static_cast<std::uint32_t>(nodes.size() + 1)}, totals[offset / 8]};
    }
    std::uint32_t gap_node() const { return 1; }
    MemoryBudget& budget() { return room; }
    void on_call_only(std::uint32_t parent, std::uint32_t offset) { on_entry(parent, offset); }
    void on_complete_call(std::uint32_t, Ticks, const Durations::Inside&) {}
    void on_tracer_time(std::uint32_t node, std::uint32_t instructions) {
        instructions_beside[node] += instructions;
    }
    bool on_jump(std::uint32_t) { return false; }
    Begun on_entry_by_jump(std::uint32_t parent, std::uint32_t offset, Ticks) {
        return on_entry(parent, offset);
    }
    std::uint32_t on_path(std::uint32_t, std::uint32_t, const Durations::Sum&) { return 2; }
    bool leaves_out_short = false;
    bool on_cpu = false;
    bool leaves_out(const OpenCall&, Ticks, Outcome) { return false; }
    bool leaves_out_complete(Ticks) { return false; }
    bool is_selected(std::uint32_t) { return false; }
    void on_leaf(std::uint32_t parent, std::uint32_t offset, std::uint64_t index, Ticks begin,
                 Ticks ticks) {
        const Begun begun = on_entry(parent, offset);
        on_exit({.index = index,
                 .begin = begin,
                 .total_before = begun.total_before,
                 .path = begun.path},
                Outcome::returned, false, ticks, ticks, 0);
    }
    void on_exit(const OpenCall& call, Outcome outcome, bool incomplete, Ticks ticks,
                 [[maybe_unused]] Ticks self, Ticks /*away*/) {
        totals[call.path.function] = call.total_before + ticks;
        const std::uint32_t above = nodes[call.path.node - 2].first;
        static constexpr const char* outcomes[] = {"", " unwound", " lost", " open"};
        list.push_back(fmt::format("{}{}{} {}/{}{}",
                                   above == 0   ? ""
                                   : above == 1 ? "?>"
                                                : fmt::format("{}>", nodes[above - 2].second),
                                   call.path.function, outcomes[static_cast<unsigned>(outcome)],
                                   ticks, self, incomplete ? " incomplete" : ""));
    }
    std::string text() const { return joined(list); }

    MemoryBudget room;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;
    std::map<std::uint32_t, std::uint32_t> instructions_beside;  // by node
    std::map<std::uint32_t, std::uint64_t> totals;
    std::map<std::uint32_t, std::uint64_t> calls;
    std::vector<std::string> list;  // "1>2 20/15": 2, called by 1, took 20 ticks, 15 of its own
};

// A decoder of records whose times are the clock's values.
struct Decoded {
    std::uint64_t put(protocol::Event event, std::uint64_t at) {
        event.index = next;
        event.clock = at;
        decoder.on_event(event);
        return next++;
    }
    std::uint64_t entry(std::uint32_t site, std::uint64_t at) {
        return put({.kind = Kind::entry, .site_offset = site * 8}, at);
    }
    std::uint64_t call(std::uint32_t site, std::uint64_t at) {
        return put({.kind = Kind::call, .site_offset = site * 8}, at);
    }
    std::uint64_t ret(std::uint64_t entry, std::uint64_t at, unsigned = 0, bool unwound = false) {
        const auto index = static_cast<std::uint32_t>(entry) & protocol::entry_index_mask;
        return put({.kind = protocol::Kind::ret, .unwound = unwound, .entry_index = index}, at);
    }
    std::uint64_t argument(Extended what, std::uint32_t argument, std::uint64_t at) {
        return put({.kind = protocol::Kind::extended, .extended = what, .argument = argument}, at);
    }

    Calls calls;
    CallDecoder<Calls> decoder{calls};
    std::uint64_t next = 0;
};

void play_word(Decoded& to, char letter, std::uint64_t number, std::uint64_t at) {
    switch (letter) {
    case 'n': to.next += number; break;  // so many short calls happen, which are not shown
    case 'g':                            // so many records are missing
        to.next += number;
        to.decoder.on_gap();
        break;
    case 's': to.decoder.suspend(at); break;         // another context runs
    case 'r': to.decoder.resume(at, number); break;  // `number` of its ticks were the tracer's
    case 'y': to.argument(Extended::sync, 0, at); break;
    case 'e':  // the session ends
        to.decoder.finish();
        to.next = 0;
        break;
    default: throw std::invalid_argument(std::string(1, letter));
    }
}

class Decoder : public testing::Test, protected Decoded {
protected:
    test::Play<Decoded> play{*this};
};

struct Case {
    const char *name, *records, *calls;
    Ticks tracer = 0;
};
class DecoderOf : public Decoder, public testing::WithParamInterface<Case> {};

TEST_P(DecoderOf, Records) {
    play(GetParam().records);
    EXPECT_EQ(calls.text(), GetParam().calls);
    EXPECT_EQ(decoder.tracer_ticks(), GetParam().tracer);
    EXPECT_EQ(decoder.counters().orphan_returns, 0u);
}
constexpr Case cases[] = {
    {"NestedCallsAndSelfTime", "100:1( 130:2( 150:) 160:3( 200:) 300:)",
     "1>2 20/20, 1>3 40/40, 1 200/140"},
    // The target's time from the first such record to the next event is the tracer's.
    {"LongjmpAsTheTargetTellsIt", "0:1( 10:2( 20:3( 30:)! 31:)! 40:4( 50:) 60:)",
     "2>3 unwound 10/10, 1>2 unwound 20/10, 1>4 10/10, 1 50/20", 10},
    {"LongjmpThatOnlyTheOuterReturnShows", "0:1( 10:2( 20:3( 60:)1",
     "2>3 unwound 40/40, 1>2 unwound 50/10, 1 60/10"},
    {"SmallNegativeDeltasAreNoTime", "100:1( 98:2( 97:) 120:)", "1>2 0/0, 1 20/20"},
    // Call 3 has the index 2^28.
    {"IdentityWraps", "n268435454 0:1( 10:2( 20:3( 30:) 40:) 50:)",
     "2>3 10/10, 1>2 30/20, 1 50/20"},
    {"ACallLongerThanItsIdentityStillReturns", "0:1( 10:2( n805306368 20:3( 30:) 40:) 50:)",
     "2>3 10/10, 1>2 30/20, 1 50/20"},
    {"ALongCallBelowOneThatNeverReturnedStillReturns", "0:1( 10:2( n805306368 50:)1",
     "1>2 unwound 40/40, 1 50/10"},
    // The self time of call 1 is 20 + 20. It has 50 in the interrupt.
    {"TracerTimeCountsForNoCallExceptThoseOfItsInterrupts",
     "0:1( 20:t( 100:7( 110:8( 130:) 150:) 1020:t) 1040:)", "7>8 20/20, 1>7 50/30, 1 90/40", 950},
    {"ADroppedEndOrBeginIsNoTracerTime", "0:1( 10:2( 20:t( 40:) 50:t) 60:)", "1>2 30/30, 1 60/30"},
    {"OpenAtTheEnd", "0:1( 10:2( 25:) 30:3( 50:4. e", "1>2 15/15, 1>3 open 20/20, 1 open 50/15"},
    // The caller's return shows that it was open all along. The callee's return is lost; its time
    // ends at the gap. Of 150 ticks, 20 belong to the lost call, 70 to the gap and 10 to call 3.
    {"AGapLosesAReturn", "0:1( 10:2( 30:9. g5 100:3( 110:) 150:)1",
     "?>3 10/10, 1>2 lost 20/20 incomplete, 1 150/50 incomplete"},
    {"AGapInsideACallThatReturns", "0:1( g4 100:) 120:2( 130:)", "1 100/0 incomplete, 2 10/10"},
    // 10 before the gaps, 10 + 15 in gaps, 5 of call 3, 5 of call 4. The rest is self time.
    {"SeveralGapsBeforeAReturn", "0:1( 10:2( g3 20:3( 25:9. g3 40:4( 45:) 100:)1",
     "?>4 5/5, ?>3 lost 5/5 incomplete, 1>2 lost 0/0 incomplete, 1 100/65 incomplete"},
    {"ASecondSessionStartsAfresh", "1000:1( e 10:1( 15:)", "1 open 0/0, 1 5/5"},
    // No record shows that the call was still open, and its context did not run. 400 ticks are the
    // tracer's, in another context.
    {"AContextThatDoesNotRunAfterAGapHasNoTimeOfIt", "0:1( 20:2( 50:s g3 1000:r400 e",
     "1>2 open 580/30 incomplete, 1 open 600/20 incomplete"},
    {"TimeInOtherContextsWithAGapIsNoSelfTime", "0:1( 50:s g3 500:r 510:s g2 800:r 810:9. 830:)",
     "1 830/70 incomplete"},
    {"AfterAGapTheSessionsEndShowsNoCallToBeOpen", "0:1( 10:2( 30:9. g1 100:3( 110:) 150:9. e",
     "?>3 10/10, 1>2 open 140/20 incomplete, 1 open 150/10 incomplete"},
    {"AfterSeveralGapsTheSessionsEndShowsNoCallToBeOpen",
     "0:1( 5:9. g1 100:2( 120:9. g1 180:9. 200:3( 210:9. g1 e",
     "?>3 open 10/10 incomplete, ?>2 open 110/20 incomplete, 1 open 210/5 incomplete"},
    // A task that pumps outside of all calls is switched out meanwhile.
    {"TimeInOtherContextsIsNotTracerTime", "10:t( 20:s 520:r 530:t)", "", 20},
    {"TimeInOtherContextsIsNotTracerTimeOfACall",
     "10:t( 20:s 520:r 530:t) 540:1( 550:t( 560:s 700:r 710:t) 720:)", "1 160/20", 40},
    // 250 - (100 + 10) - (90 + 5)
    {"AGapsLengthIsNoSelfTime", "0:1( g5 100:2( 110:) g3 200:3( 205:) 250:)",
     "?>2 10/10, ?>3 5/5, 1 250/45 incomplete"},
    {"AGapInTheTracer", "0:1( 10:t( 30:y g2 100:)", "1 80/10 incomplete", 20},
};
INSTANTIATE_TEST_SUITE_P(, DecoderOf, testing::ValuesIn(cases), name_of_course);

TEST_F(Decoder, RecursionCountsTimeOnceAndACallWithoutTimeIsOnlyCounted) {
    play("0:1( 10:1( 20:1( 30:) 50:2. 50:) 55:2. 60:1( 65:) 100:) 200:1( 203:)");
    EXPECT_EQ(calls.text(), "1>1 10/10, 1>1 40/30, 1>1 5/5, 1 100/55, 1 3/3");
    EXPECT_EQ(calls.totals[1], 103u);
    EXPECT_THAT(calls.calls, ElementsAre(testing::Pair(1, 5), testing::Pair(2, 2)));
}

TEST_F(Decoder, AReturnOfNothingOpenInventsNothing) {
    entry(1, 0);
    for (const std::uint64_t index : {12345, 1}) ret(index, 10);  // the second is its own index
    EXPECT_EQ(calls.text(), "");
    EXPECT_EQ(decoder.counters().orphan_returns, 2u);
}

TEST_F(Decoder, CallsThatALongjmpLeavesEndWhereTheTracerBegan) {
    play("0:1( 10:2( 20:3( 50:t(9 50:)! 55:7( 60:) 70:)! 150:t)12 160:)");
    // Call 7 is an interrupt's. Call 2 has its 5 ticks, from before its end.
    EXPECT_EQ(calls.text(), "2>3 unwound 30/30, 2>7 5/5, 1>2 unwound 45/10, 1 65/20");
    EXPECT_EQ(decoder.tracer_ticks(), 95u);
    // Of the one that goes on, and of the innermost.
    EXPECT_THAT(calls.instructions_beside, ElementsAre(testing::Pair(2, 12), testing::Pair(4, 9)));
}

TEST_F(Decoder, ManyGapsDoNotGrowTheStackAndAreNoSelfTime) {
    const auto a = entry(1, 0);
    std::uint64_t at = 0;
    for (int i = 0; i < 100000; ++i) {
        entry(2, at += 10);
        play("g1");
    }
    ret(a, at + 10);
    ASSERT_EQ(calls.list.size(), 100001u);
    EXPECT_EQ(decoder.counters().too_deep, 0u);
    for (std::size_t i = 0; i < 100000; ++i) ASSERT_THAT(calls.list[i], HasSubstr("/0"));
    EXPECT_EQ(calls.list.back(), "1 1000010/10 incomplete");  // 10 are before the first lost call
}

TEST_F(Decoder, TooDeepIsCountedNotStored) {
    for (std::uint64_t i = 0; i < CallDecoder<Calls>::max_depth + 10; ++i) entry(1, i);
    EXPECT_EQ(decoder.counters().too_deep, 10u);
    decoder.finish();
    EXPECT_EQ(calls.list.size(), CallDecoder<Calls>::max_depth);
}

// Takes records one by one, or as Profile does: plain records in a separate loop. Between two
// frames the core ran another context, or records are missing.
struct Taken final : SessionSink {
    explicit Taken(bool is_in_loops) : in_loops(is_in_loops) {}
    void on_trace(unsigned, const TraceBatch& batch) override {
        if (batch.gap)
            decoder.on_gap();
        else
            decoder.resume(batch.records[0].clock, 1);
        std::uint64_t index = batch.first_index;
        for (auto these = batch.records; !these.empty();) {
            const std::size_t taken = in_loops ? decoder.take_plain(these, index) : 0;
            plain += taken;
            index += taken;
            these = these.subspan(taken);
            if (these.empty()) return;
            decoder.on_event(protocol::event_of(these.front(), index++));
            these = these.subspan(1);
        }
    }
    void on_session_end() override { decoder.finish(); }

    const bool in_loops;
    std::size_t plain = 0;
    Calls calls;
    CallDecoder<Calls> decoder{calls};
};

TEST(PlainRecords, AreTakenAsOthersAre) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const RandomTrace trace(seed);
        Taken one_by_one(false), in_loops(true);
        read_line(trace.target, one_by_one);
        read_line(trace.target, in_loops);
        EXPECT_GT(in_loops.plain, 100u) << seed;
        EXPECT_EQ(in_loops.calls.totals, one_by_one.calls.totals) << seed;
        EXPECT_EQ(in_loops.calls.calls, one_by_one.calls.calls) << seed;
        EXPECT_EQ(in_loops.calls.text(), one_by_one.calls.text()) << seed;
    }
}

}  // namespace nopscope::host::test::call_decoder_test
