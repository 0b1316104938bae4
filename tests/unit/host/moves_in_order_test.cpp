// SPDX-License-Identifier: Apache-2.0
// The order in which sinks get the records of tasks that move between cores.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::moves_in_order_test {

using Seen = std::pair<unsigned, std::uint64_t>;  // core, index

struct Order : SessionSink {
    void on_trace(unsigned core, const TraceBatch& batch) override {
        // A gap's first records begin where the gap ends.
        for (std::size_t i = 0; i < batch.records.size(); ++i)
            indices.emplace_back(core, batch.first_index + i);
        gap_at.resize(gap_at.size() + batch.gap, {core, batch.first_index});
    }
    void on_missing(unsigned core, const MissingPart&) override { indices.push_back({core, 999}); }
    void on_stats(unsigned, const protocol::Stats&) override { ++stats; }
    void on_session_end() override { ++ended; }
    std::vector<Seen> indices, gap_at;
    int stats = 0, ended = 0;
};

class MovesInOrderTest : public testing::Test {
protected:
    MovesInOrderTest() { begin(moves); }
    static void begin(MovesInOrder& moves) {
        HelloInfo hello;
        hello.cores = 4;
        moves.on_session(hello);
    }
    using Records = std::vector<StampedRecord>;

    static StampedRecord call() { return {protocol::make_record({}, 1, 5), 5}; }
    static StampedRecord context(std::uint32_t number) {
        return {protocol::make_extended(Extended::context, number, 5), 5};
    }
    static Records calls(std::size_t count) { return Records(count, call()); }
    // A call; a context that has left `from` at index `after`; a call.
    static Records move(unsigned from, std::uint64_t after, std::uint32_t number = 7) {
        const auto head = protocol::task_argument(TaskFact::moved, 1);
        return {call(),
                context(number),
                {protocol::make_extended(Extended::task, head, 5), 5},
                {protocol::make_data(protocol::moved_data(from, after)), 5},
                call()};
    }
    void batch(unsigned core, const Records& records, std::uint64_t missing = 0) {
        next[core] += missing;
        moves.on_trace(
            core,
            {.first_index = next[core], .records = records, .gap = missing != 0, .context = 3});
        next[core] += records.size();
    }
    // "0:3-5 1:0": records 3 to 5 of core 0, then record 0 of core 1.
    static std::string text(const std::vector<Seen>& all) {
        std::string text;
        for (std::size_t at = 0, end = 0; at < all.size(); at = end) {
            const auto [core, first] = all[at];
            for (end = at + 1; end < all.size() && all[end] == Seen{core, first + end - at};) ++end;
            text += fmt::format("{}{}:{}", at == 0 ? "" : " ", core, first);
            if (end - at > 1) text += fmt::format("-{}", all[end - 1].second);
        }
        return text;
    }
    // What came since the last time.
    std::string come() { return text(std::exchange(sink.indices, {})); }
    // What came after these. "0:2": two calls on core 0; "0:2+3": after three that are missing;
    // "1<0@4": move(0, 4) on core 1; "1<0@4#8": of context 8; "0s": stats of core 0.
    std::string after(const std::string& course) {
        std::istringstream words(course);
        for (std::string word; words >> word;) {
            unsigned core = 0, of = 0, missing = 0, number = 7;
            char letter = 0;
            std::sscanf(word.c_str(), "%u%c%u", &core, &letter, &of);
            std::sscanf(word.c_str(), "%*u%*c%*u%*1[+@]%u#%u", &missing, &number);
            if (letter == 's') moves.on_stats(core, {});
            if (letter == ':') batch(core, calls(of), missing);
            if (letter == '<') batch(core, move(of, missing, number));
        }
        return come();
    }

    Order sink;
    MovesInOrder moves{sink};
    std::uint64_t next[4] = {};
};

TEST_F(MovesInOrderTest, AllPassesThatIsInOrder) {
    EXPECT_EQ(after("0:3"), "0:0-2");
    EXPECT_EQ(after("1<0@2"), "1:0-4");
    EXPECT_FALSE(moves.waiting_context(1));
}

TEST_F(MovesInOrderTest, TheNewCoreWaitsForTheOldOne) {
    EXPECT_EQ(after("0:2 1<0@4 1:2"), "0:0-1 1:0");
    EXPECT_EQ(moves.waiting_context(1), 7u);
    EXPECT_EQ(after("2:1"), "2:0");
    EXPECT_EQ(after("0:2"), "0:2-3") << "the record of the switch, index 4, is on its way";
    EXPECT_EQ(after("0:1"), "0:4 1:1-6");
    EXPECT_FALSE(moves.waiting_context(1));
}

// The old core sleeps, and has not recorded its switch.
TEST_F(MovesInOrderTest, TheOldCoreSaysThatItHasNoMore) {
    (void)after("0:3 0s 0:1 1<0@4");
    EXPECT_EQ(after("1s 1s 0s"), "");
    EXPECT_EQ(after("0s"), "1:1-4");
    EXPECT_EQ(sink.stats, 5);
}

TEST_F(MovesInOrderTest, TheOldCoreSaysThatItIsOver) {
    (void)after("0:4 1<0@4");
    protocol::Stats last;
    last.final = 1;
    moves.on_stats(0, last);
    EXPECT_EQ(come(), "1:1-4");
}

TEST_F(MovesInOrderTest, RecordsOfThePumpMayComeBeforeTheSwitch) {
    batch(0, {context(7), call()});
    (void)after("1<0@2 0:2");  // in the context still
    batch(0, {context(0), call()});
    EXPECT_EQ(come(), "0:4-5 1:1-4");
}

TEST_F(MovesInOrderTest, AWaitingCoreHasMore) {
    (void)after("1<0@3 2<1@1");  // core 1's next record for the sinks is 1
    EXPECT_EQ(after("1s"), "");
}

TEST_F(MovesInOrderTest, OneCoreLetsAnotherGoOn) {
    EXPECT_EQ(after("2<1@1#8 1<0@1"), "2:0 1:0");
    EXPECT_EQ(after("0:2"), "0:0-1 1:1-4 2:1-4");
}

TEST_F(MovesInOrderTest, AGapThatWaitsIsToldOnce) {
    batch(1, move(0, 1));
    Records more = calls(2);
    for (const auto& record : move(2, 1, 8)) more.push_back(record);
    batch(1, more, 5);  // waits, and then again in its middle
    (void)after("0:2 2:2");
    EXPECT_EQ(text(sink.gap_at), "1:10");
}

TEST_F(MovesInOrderTest, FramesSplitTheRecordsOfAMove) {
    const Records all = move(0, 1);
    for (std::size_t split = 1; split <= 4; ++split) {
        for (std::size_t second = split; second <= 4; ++second) {
            MovesInOrder other(sink);
            begin(other);
            const auto part = [&](std::size_t from, std::size_t to) {
                if (from == to) return;
                const Records records(all.begin() + static_cast<long>(from),
                                      all.begin() + static_cast<long>(to));
                other.on_trace(1, {.first_index = from, .records = records});
            };
            part(0, split);
            part(split, second);
            part(second, 5);
            EXPECT_EQ(come(), "1:0") << split << " " << second;
            const Records both = calls(2);
            other.on_trace(0, {.first_index = 0, .records = both});
            EXPECT_EQ(come(), "0:0-1 1:1-4");
        }
    }
}

TEST_F(MovesInOrderTest, ASwitchAtAFramesEndWaitsForTheNextFrame) {
    batch(1, {call(), context(5)});
    EXPECT_EQ(come(), "1:0");
    EXPECT_EQ(moves.waiting_context(1), 5u);
    EXPECT_EQ(after("1:1"), "1:1-2");
    batch(1, {context(0)});
    EXPECT_EQ(come(), "1:3");
}

TEST_F(MovesInOrderTest, AGapOfTheOldCoreThatEndsLaterIsEnough) {
    EXPECT_EQ(after("1<0@4 0:1+7"), "1:0 0:7 1:1-4");
}

TEST_F(MovesInOrderTest, GapsAndMissingPartsKeepTheirPlaces) {
    batch(1, move(0, 4));
    moves.on_missing(1, {});
    EXPECT_EQ(after("1:1+3"), "1:0");
    EXPECT_THAT(sink.gap_at, IsEmpty());
    EXPECT_EQ(after("0:5"), "0:0-4 1:1-4 1:999 1:8");
    EXPECT_EQ(text(sink.gap_at), "1:8");
    moves.on_missing(1, {});
    EXPECT_EQ(come(), "1:999");
}

// The gap has taken the `moved` record along.
TEST_F(MovesInOrderTest, ASwitchBeforeAGapIsNotAMove) {
    batch(1, {call(), context(5)});
    EXPECT_EQ(after("1:1+2"), "1:0-1 1:4");
    EXPECT_EQ(text(sink.gap_at), "1:4");
}

TEST_F(MovesInOrderTest, ACoreThatBeginsWithAMoveAfterAGapHasOneGap) {
    Records records = move(0, 4);
    records.erase(records.begin());
    batch(1, records, 6);
    EXPECT_EQ(text(sink.gap_at), "1:6");
    EXPECT_EQ(come(), "");
    EXPECT_EQ(after("0:5"), "0:0-4 1:6-9");
    EXPECT_EQ(text(sink.gap_at), "1:6");
}

TEST_F(MovesInOrderTest, TheSessionsEndPassesEverything) {
    (void)after("2<1@50 1<0@4");
    batch(3, {context(5)});
    moves.on_session_end();
    EXPECT_EQ(come(), "3:0 2:1-4 1:1-4");
    EXPECT_EQ(sink.ended, 1);
    // The next session knows nothing of this one.
    begin(moves);
    std::fill(std::begin(next), std::end(next), 0);
    EXPECT_EQ(after("1<2@3"), "1:0");
}

TEST_F(MovesInOrderTest, MemoryHasALimit) {
    MovesInOrder few(sink, 20);
    begin(few);
    const Records one = move(0, 4);
    few.on_trace(1, {.first_index = 0, .records = one});
    few.on_trace(2, {.first_index = 0, .records = one});
    EXPECT_EQ(come(), "1:0 2:0");
    const Records more = calls(9);
    few.on_trace(2, {.first_index = 5, .records = more});
    EXPECT_EQ(come(), "");
    few.on_trace(2, {.first_index = 14, .records = more});
    // The core that began to wait first goes on; that is not enough, so the other one does, too.
    EXPECT_EQ(come(), "1:1-4 2:1-22");
}

TEST_F(MovesInOrderTest, AMoveFromTheSameCoreOrWithoutDataDoesNotWait) {
    EXPECT_EQ(after("1<1@70"), "1:0-4");
    const auto head = protocol::task_argument(TaskFact::moved, 0);
    batch(1, {context(5), {protocol::make_extended(Extended::task, head, 5), 5}, call()});
    EXPECT_EQ(come(), "1:5-7");
}

TEST_F(MovesInOrderTest, AMoveInALongBatchIsFound) {
    for (std::size_t before = 60; before < 70; ++before) {
        Records records = calls(before);
        const Records one = move(3, 4);
        records.insert(records.end(), one.begin(), one.end());
        MovesInOrder other(sink);
        begin(other);
        other.on_trace(1, {.first_index = 0, .records = records});
        EXPECT_EQ(come(), fmt::format("1:0-{}", before));
        other.on_session_end();
        EXPECT_EQ(come(), fmt::format("1:{}-{}", before + 1, before + 4));
    }
}

}  // namespace nopscope::host::test::moves_in_order_test
