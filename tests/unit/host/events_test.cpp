// SPDX-License-Identifier: Apache-2.0
// The PMU's events: what reports show of them, and where their counts are unknown.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::events_test {

constexpr std::uint16_t sw_incr = 0x00, inst_retired = 0x08, stall_backend_mem = 0x4005;

class EventsTest : public test::PlayedReport {
protected:
    EventsTest() {
        target.cores = 2;
        target.hello();
    }

    // Plays records. Behind "=" are the counts of one or two events: ")=5" is a return with one.
    void counted(const std::string& records, std::uint16_t first = sw_incr,
                 std::uint16_t second = stall_backend_mem) {
        std::istringstream words(records);
        for (std::string word, count; words >> word;) {
            const std::size_t end = word.find('=');
            play(word.substr(0, end));
            if (end == word.npos) continue;
            std::istringstream list(word.substr(end + 1));
            std::vector<std::uint64_t> counts;
            while (std::getline(list, count, ',')) counts.push_back(std::stoull(count));
            const std::uint32_t argument = counts.size() == 2
                                               ? protocol::events_argument(first, second)
                                               : protocol::events_argument(first);
            target.with_data(protocol::Extended::events, argument, counts);
        }
    }
    void profile_events(std::uint64_t choice,
                        const std::vector<protocol::ProfileEventsEntry>& entries,
                        std::uint8_t core = 0,
                        std::uint32_t which = protocol::events_argument(sw_incr)) {
        target.flush();  // before payload() is written
        protocol::ProfileEventsWriter out(target.payload(), which);
        for (const auto& entry : entries) out.put(entry);
        target.frame(protocol::Stream::profile_events, core,
                     out.finish({1, 0, true, choice, which}));
    }
    // "site: calls total self" of the first event for each function, by site.
    static std::vector<std::string> rows(const EventTable& table, std::size_t column = 0) {
        std::vector<std::string> out;
        for (const EventRow& row : table.rows) {
            const EventCell& cell = row.cells[column];
            out.push_back(fmt::format("{}: {} {} {}", (row.address - TargetStream::text_base) / 8,
                                      cell.calls, cell.total, cell.self));
        }
        std::sort(out.begin(), out.end());
        return out;
    }
};

TEST_F(EventsTest, SelfIsWithoutTheCallsInside) {
    // No target sends the last number: modulo 2^32 it is 9.
    counted("1( 2( 3( )=5 )=7 2( )=4294967295 )=4294967305");
    EXPECT_THAT(rows(report().events),
                ElementsAre("1: 1 9 0", "2: 2 4294967302 4294967297", "3: 1 5 5"));
}

TEST_F(EventsTest, TwoAreKeptApart) {
    counted("1( 2( )=3,100 )=4,300");
    ASSERT_EQ(report().events.columns.size(), 2u);
    EXPECT_EQ(made.events.columns[1].name, "stall_backend_mem");
    EXPECT_THAT(rows(made.events, 0), ElementsAre("1: 1 4 1", "2: 1 3 3"));
    EXPECT_THAT(rows(made.events, 1), ElementsAre("1: 1 300 200", "2: 1 100 100"));
}

// An older target does not refuse the same event on both counters. Both recorders are tested.
TEST_F(EventsTest, OneEventOnBothCountersIsSummedOnce) {
    counted("1( )=4,4", sw_incr, sw_incr);
    profile_events(1, {{8 * 2, 5, {60, 60}, {50, 50}}}, 0,
                   protocol::events_argument(sw_incr, sw_incr));
    ASSERT_EQ(report().events.columns.size(), 1u);
    EXPECT_THAT(rows(made.events), ElementsAre("1: 1 4 4"));
    ASSERT_EQ(made.profile_events.columns.size(), 1u);
    EXPECT_THAT(rows(made.profile_events), ElementsAre("2: 5 60 50"));
}

TEST_F(EventsTest, ARecursiveFunctionsTotalIsTheOutermosts) {
    counted("1( 1( 1( )=1 )=3 )=6");
    EXPECT_THAT(rows(report().events), ElementsAre("1: 3 6 6"));
}

TEST_F(EventsTest, ACallWithAGapInsideHasATotalButNoSelf) {
    counted("1( 2( | 3( )=50 x 3( )=2 )=60 )=70");
    EXPECT_THAT(rows(report().events), ElementsAre("1: 1 70 0", "2: 1 60 0", "3: 1 2 2"));
}

TEST_F(EventsTest, WithoutItsReturnARecordBelongsToNoCall) {
    counted("1( 2( | ) x =9 3() | = x");
    target.data({7});
    counted(")=20");
    EXPECT_THAT(rows(report().events), ElementsAre("1: 1 20 0"));
}

TEST_F(EventsTest, ACallThatWasNotCountedIsInItsCallersSelf) {
    counted("1( 2() )=8 4(");  // open at the end
    EXPECT_THAT(rows(report().events), ElementsAre("1: 1 8 8"));
    EXPECT_THAT(text_report(made), HasSubstr("sw_incr"));
    EXPECT_EQ(nlohmann::json::parse(json_report(made))["functions"][1]["events"].size(), 0u);
}

TEST_F(EventsTest, InstRetiredIsCorrectedByWhatHelloSays) {
    target.bytes.clear();
    target.event_costs = {true, 30, 54, 60, 55, 65};
    target.hello();
    counted("1( 2( )=40 )=200", inst_retired);
    const EventTable& events = report().events;
    EXPECT_TRUE(events.columns[0].corrected);
    for (const EventRow& row : events.rows) {
        const bool is_outer = row.address == TargetStream::text_base + 8;
        EXPECT_EQ(row.cells[0].corrected.self, is_outer ? 200u - 40 - 30 - 54 : 10u);
        EXPECT_EQ(row.cells[0].corrected.total, is_outer ? 200u - 30 - 30 - 54 : 10u);
    }
}

TEST_F(EventsTest, OfTheProfileTheLastReadOutOfEachChoiceCounts) {
    profile_events(1, {{8, 2, {10}, {10}}, {16, 1, {4}, {4}}});
    profile_events(1, {{8, 3, {15}, {12}}});
    profile_events(1, {{8, 1, {1}, {1}}}, 1);
    profile_events(2, {{8, 5, {100}, {90}}});
    EXPECT_THAT(rows(report().profile_events), ElementsAre("1: 9 116 103", "2: 1 4 4"));
    // The profile's own frames may be lost.
    const auto json = nlohmann::json::parse(json_report(made));
    EXPECT_EQ(json["profile"]["functions"], nlohmann::json::array());
    EXPECT_EQ(json["profile"]["events"].size(), 1u);
}

TEST_F(EventsTest, AMalformedFrameOfTheProfileIsCounted) {
    target.payload()[0] = 0x80;
    target.frame(protocol::Stream::profile_events, 0, 1);
    protocol::Writer out(target.payload());
    for (const std::uint64_t word : {1, 1, 1, 1 << 25}) out.varint(word);
    target.frame(protocol::Stream::profile_events, 0, out.size());
    EXPECT_EQ(report().profile_events.columns.size(), 0u);
    EXPECT_EQ(profile.counters().stream.malformed_frames, 2u);
}

TEST(EventNames, AreArmsOrNumbers) {
    EXPECT_EQ(event_number("l1d_cache_refill"), 0x03);
    EXPECT_EQ(event_number("0x4005"), 0x4005);
    EXPECT_EQ(event_number("17"), 0x11);
    EXPECT_EQ(event_name(0x10), "br_mis_pred");
    EXPECT_EQ(event_name(0x77), "0x77");
    for (const char* none : {"", "0x", "0x10000", "cycles", "8 ", "-1"})
        EXPECT_FALSE(event_number(none)) << none;
    for (const std::uint32_t number : {0u, 0x3fu, 0x7ffu, 0x4000u, 0x403fu, 0x47ffu}) {
        EXPECT_EQ(protocol::event_number(protocol::event_code(number)), number);
        EXPECT_EQ(protocol::event_of(protocol::events_argument(5, number), 1), number);
        EXPECT_EQ(protocol::event_of(protocol::events_argument(number, 5), 0), number);
    }
}

}  // namespace nopscope::host::test::events_test
