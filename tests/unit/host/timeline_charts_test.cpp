// SPDX-License-Identifier: Apache-2.0
// A chart has all records while there is room. Else it has fewer points, and their least, most and
// last values are those of the records that they stand for.
#include "host-tools/analysis/timeline/timeline_charts.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "host-tools/analysis/timeline/timeline.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint64_t no_bytes = 0;
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

ChartPoint value_at(std::int64_t at, std::int64_t value, std::uint32_t function = 0) {
    return {at, at, value, value, value, function};
}

struct ChartsTest : testing::Test {
    void add(ChartKind kind, std::uint32_t id, std::uint32_t core, const ChartPoint& point) {
        ASSERT_TRUE(charts.add(kind, id, core, point, budget));
    }
    std::vector<Chart> all() const {
        return charts.picture({0, std::numeric_limits<std::int64_t>::max(), 1}, any_number).charts;
    }

    MemoryBudget memory{1.0};
    CallRows budget{memory};
    TimelineCharts charts{TimelineCharts::price_of_point * TimelineCharts::max_points};
};

TEST_F(ChartsTest, EachHasItsRecordsAndItsLimits) {
    add(ChartKind::counter, 7, 1, value_at(10, -5));
    add(ChartKind::counter, 7, 1, value_at(20, 9));
    add(ChartKind::events, 3, 0, value_at(15, 4, 2));
    add(ChartKind::events, 3, 1, value_at(16, 6, 2));
    add(ChartKind::masked, 0, 2, {30, 45, 15, 15, 15, 8});
    const auto shown = all();
    ASSERT_EQ(shown.size(), 4u);
    EXPECT_EQ(shown[0].kind, ChartKind::masked);
    EXPECT_EQ(shown[0].core, 2u);
    EXPECT_EQ(shown[0].points[0].function, 8u);
    EXPECT_EQ(shown[1].kind, ChartKind::counter);
    EXPECT_EQ(shown[1].core, 1u);
    EXPECT_EQ(shown[1].least, -5);
    EXPECT_EQ(shown[1].most, 9);
    EXPECT_EQ(shown[1].records, 2u);
    EXPECT_EQ(shown[2].core, 0u);
    EXPECT_EQ(shown[3].core, 1u);
    EXPECT_EQ(shown[3].id, 3u);
}

TEST_F(ChartsTest, ACounterOfSeveralCoresIsOneInTheOrderOfTime) {
    for (const std::int64_t at : {10, 30, 50}) add(ChartKind::counter, 1, 0, value_at(at, at));
    for (const std::int64_t at : {20, 40}) add(ChartKind::counter, 1, 1, value_at(at, at));
    const auto shown = all();
    ASSERT_EQ(shown.size(), 1u);
    EXPECT_FALSE(shown[0].core);
    ASSERT_EQ(shown[0].points.size(), 5u);
    for (std::size_t at = 0; at < 5; ++at)
        EXPECT_EQ(shown[0].points[at].last, 10 * static_cast<std::int64_t>(at + 1));
}

// What set it before the part.
TEST_F(ChartsTest, ACounterHasItsValueAtTheBeginOfAPart) {
    add(ChartKind::counter, 1, 0, value_at(10, 3));
    add(ChartKind::counter, 1, 1, value_at(20, 4));
    add(ChartKind::counter, 1, 0, value_at(100, 5));
    add(ChartKind::events, 1, 0, value_at(10, 3));
    const auto shown = charts.picture({50, 90, 1}, any_number).charts;
    ASSERT_EQ(shown[0].points.size(), 1u);
    EXPECT_EQ(shown[0].points[0].last, 4);
    EXPECT_EQ(shown[0].points[0].from, 20);
    EXPECT_EQ(shown[0].most, 5) << "of the whole recording";
    EXPECT_TRUE(shown[1].points.empty()) << "a call's events are at its end only";
}

// Compares points with the records that they stand for.
void expect_right(const std::vector<ChartPoint>& points, const std::vector<ChartPoint>& records) {
    std::size_t next = 0;
    for (const ChartPoint& point : points) {
        ASSERT_LE(next + point.records, records.size());
        ChartPoint right = records[next];
        for (std::size_t at = 1; at < point.records; ++at) {
            const ChartPoint& record = records[next + at];
            right.least = std::min(right.least, record.least);
            if (record.most > right.most) right.function = record.function;
            right.most = std::max(right.most, record.most);
            right.last = record.last;
            right.to = record.to;
        }
        EXPECT_EQ(point.from, right.from);
        EXPECT_EQ(point.to, right.to);
        EXPECT_EQ(point.least, right.least);
        EXPECT_EQ(point.most, right.most);
        EXPECT_EQ(point.last, right.last);
        EXPECT_EQ(point.function, right.function);
        next += point.records;
    }
    EXPECT_EQ(next, records.size()) << "none is missing";
}

std::vector<ChartPoint> random_records(std::size_t count) {
    std::mt19937_64 random(5);
    std::vector<ChartPoint> records;
    std::int64_t at = 0;
    for (std::size_t n = 0; n < count; ++n) {
        at += static_cast<std::int64_t>(random() % 20 == 0 ? random() % 10'000 : random() % 30);
        records.push_back(value_at(at, static_cast<std::int64_t>(random() % 2'000) - 1'000,
                                   static_cast<std::uint32_t>(random() % 9)));
    }
    return records;
}

TEST_F(ChartsTest, EachSlotHasItsLeastMostAndLast) {
    const auto records = random_records(5'000);
    for (const ChartPoint& one : records) add(ChartKind::events, 1, 0, one);
    const std::int64_t end = records.back().to + 1;
    EXPECT_TRUE(charts.picture({0, end, 500}, 5'000).all);
    const ChartPicture joined = charts.picture({0, end, 500}, 4'999);
    EXPECT_FALSE(joined.all);
    EXPECT_EQ(joined.slot, 500);
    const auto& points = joined.charts[0].points;
    expect_right(points, records);
    for (std::size_t at = 0; at < points.size(); ++at) {
        EXPECT_EQ(points[at].from / 500, points[at].to / 500);
        if (at != 0) {
            EXPECT_LT(points[at - 1].to / 500, points[at].from / 500);
        }
    }
    // Wider slots, until the points are few enough.
    const ChartPicture few = charts.picture({0, end, 500}, points.size() / 2);
    EXPECT_GT(few.slot, 500);
    EXPECT_LE(few.charts[0].points.size(), points.size() / 2);
    expect_right(few.charts[0].points, records);
}

TEST_F(ChartsTest, NeighboursAreJoinedWhereThereIsNoRoom) {
    TimelineCharts small(no_bytes);
    const auto records = random_records(50'000);
    for (const ChartPoint& one : records)
        ASSERT_TRUE(small.add(ChartKind::events, 1, 0, one, budget));
    const ChartPicture shown = small.picture({0, records.back().to + 1, 1}, any_number);
    const Chart& chart = shown.charts[0];
    EXPECT_TRUE(shown.all);
    EXPECT_LE(chart.points.size(), TimelineCharts::least_points);
    EXPECT_GT(chart.points.size(), TimelineCharts::least_points / 4);
    EXPECT_EQ(chart.records, records.size());
    expect_right(chart.points, records);
    // Near ones: none stands for more than some per mille of the time.
    for (const ChartPoint& one : chart.points)
        EXPECT_LE(one.to - one.from, records.back().to / 100);
}

TEST_F(ChartsTest, TheLargestChartGivesPointsAway) {
    TimelineCharts small(no_bytes);
    ASSERT_TRUE(small.add(ChartKind::counter, 1, 0, value_at(5, 1), budget));
    ASSERT_TRUE(small.add(ChartKind::counter, 1, 0, value_at(6, 2), budget));
    for (const ChartPoint& one : random_records(5'000))
        ASSERT_TRUE(small.add(ChartKind::events, 1, 0, one, budget));
    const auto shown = small.picture({0, 1 << 30, 1}, any_number).charts;
    EXPECT_EQ(shown[0].points.size(), 2u);
}

TEST_F(ChartsTest, APointIsPaidForByTheBudget) {
    const std::uint64_t before = memory.left();
    CallRows rows(memory);
    for (const ChartPoint& one : random_records(TimelineCharts::least_points + 1))
        ASSERT_TRUE(charts.add(ChartKind::events, 1, 0, one, rows));
    EXPECT_FALSE(rows.take(before));
    EXPECT_TRUE(rows.take(before - TimelineCharts::least_points * TimelineCharts::price_of_point));
}

// In the timeline's JSON.
TEST(TimelineCharts, AreInTheJson) {
    Timeline timeline;
    const Track core{0, 0, 0};
    timeline.on_track(core);
    timeline.on_function(1, {.name = "f", .file = {}, .line = 0, .address = 1002});
    timeline.on_function(first_sampled_function,
                         {.name = "mask\n", .file = {}, .line = 0, .address = 5000});
    constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
    timeline.counter(core, 12, 5, 900);
    timeline.entry(core, 1, 1000);
    timeline.leave(core, 1, 1100, Left::returned);
    const EventCount counts[] = {{0x11, 70}, {0x77, large}};
    timeline.events(core, 1, counts, 1100);
    timeline.masked(core, first_sampled_function, 1020, 1090);
    timeline.masked(core, 1, 1150, 1250);
    const Json json = timeline.json([](std::uint64_t key) { return key == 1002 ? 3 : -5; });
    EXPECT_EQ(json["left_out"], "");
    EXPECT_EQ(json["duration"], 350);
    const Json& charts = json["charts"];
    EXPECT_EQ(charts["all"], true);
    EXPECT_EQ(charts["names"], Json{"mask\\x0a"});
    const auto chart = [&](std::size_t at) { return charts["charts"][at]; };
    EXPECT_EQ(chart(0), Json::parse(R"({"kind":"masked","core":0,"name":"interrupts masked",
        "least":70,"most":100,"records":2,"from":[120,130],"last":[70,100],"function":[-100,3]})"));
    EXPECT_EQ(chart(1), Json::parse(R"({"kind":"counter","core":0,"name":"counter 12","least":5,
        "most":5,"records":1,"from":[0],"last":[5]})"));
    EXPECT_EQ(chart(2), Json::parse(R"({"kind":"events","core":0,"name":"cpu_cycles each call",
        "least":70,"most":70,"records":1,"from":[200],"last":[70],"function":[3]})"));
    EXPECT_EQ(chart(3)["name"], "0x77 each call");
    EXPECT_EQ(chart(3)["last"], Json{"9007199254740993"}) << "JavaScript has no such number";
    // A part, with one slot.
    const Json part = timeline.json([](std::uint64_t) { return 3; },
                                    {.from = 50, .to = 340, .slots = 1, .most_cells = 1});
    EXPECT_EQ(part["charts"]["charts"][0],
              Json::parse(R"({"kind":"masked","core":0,"name":"interrupts masked","least":70,
        "most":100,"records":2,"from":[120],"last":[100],"function":[3],"duration":[230],
        "min":[70],"max":[100],"joined":[2]})"));
}

TEST(TimelineCharts, TooManySeriesAreCounted) {
    Timeline timeline;
    const Track core{0, 0, 0};
    timeline.on_track(core);
    for (std::uint32_t id = 0; id < TimelineCharts::max_series + 3; ++id)
        timeline.counter(core, id, 1, 10 + id);
    const Json json = timeline.json([](std::uint64_t) { return 0; });
    EXPECT_EQ(json["charts"]["charts"].size(), TimelineCharts::max_series);
    EXPECT_EQ(json["left_out"], "3 counter values");
}

}  // namespace
}  // namespace nopscope::host
