// SPDX-License-Identifier: Apache-2.0
// What a report says of captured registers, results, counters and marks.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::captured_test {

constexpr std::int64_t wide = 0x7edc'ba98'7654'3210;
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

class CapturedTest : public StreamReport {
protected:
    CapturedTest() { target.hello(); }

    // "count min max last", and the different values.
    static std::string text(const ValueSeries& of) {
        std::string all = fmt::format("{} {} {} {};", of.count, of.min, of.max, of.last);
        for (const auto& [value, times] : of.different) all += fmt::format(" {}x{}", value, times);
        return all;
    }
    std::vector<std::string> captured() {
        std::vector<std::string> out;
        for (const CapturedRow& row : report().captured)
            out.push_back(row.name + " " + row.what + ": " + text(row.series));
        return out;
    }
};

TEST_F(CapturedTest, RegistersAndResultsAreByFunction) {
    const auto call = target.entry(2);
    target.arguments(2, 0b1000'0101, {5, -7, wide});
    target.result(2, least);
    target.ret(call);
    target.arguments(2, 0b1, {4});
    target.arguments(1, 0b1, {5});
    target.result(2, 1);
    EXPECT_THAT(captured(),
                ElementsAre("0x40080008 x0: 1 5 5 5; 5x1", "0x40080010 x0: 2 4 5 4; 4x1 5x1",
                            "0x40080010 x2: 1 -7 -7 -7; -7x1",
                            fmt::format("0x40080010 x7: 1 {0} {0} {0}; {0}x1", wide),
                            fmt::format("0x40080010 result: 2 {0} 1 1; {0}x1 1x1", least)));
    EXPECT_EQ(made.functions.size(), 1u) << "a function without calls is no function of the trace";
}

TEST_F(CapturedTest, EightDifferentValuesAreKeptAndNotMore) {
    for (int i = 0; i < 30; ++i) target.counter(3, i % 8);
    for (int i = 0; i < 30; ++i) target.counter(4, i % 9);
    const auto& counters = report().counters;
    EXPECT_EQ(text(counters.at(3)), "30 0 7 5; 0x4 1x4 2x4 3x4 4x4 5x4 6x3 7x3");
    EXPECT_EQ(text(counters.at(4)), "30 0 8 2;");
    const auto json = nlohmann::json::parse(json_report(made));
    EXPECT_EQ(json["counters"][0]["id"], 3);
    EXPECT_EQ(json["counters"][0]["values"][6], nlohmann::json::parse("[6, 3]"));
    EXPECT_TRUE(json["counters"][1]["values"].is_null());
    EXPECT_EQ(json["counters"][1]["max"], 8);
}

TEST_F(CapturedTest, TheLastValueIsOfTheLastSessionByTheClockWhateverTheCoresOrder) {
    target.counter(1, 10);
    target.finish();
    target.reset();
    target.clock = 5;  // less than before
    target.cores = 2;
    target.hello();
    target.counter(1, 20, 1);
    target.counter(1, 30, 0);
    target.flush();  // core 0 comes first
    EXPECT_EQ(text(report().counters.at(1)), "3 10 30 30; 10x1 20x1 30x1");
}

TEST_F(CapturedTest, AValueIsCountedOnlyWhenAllOfItIsThere) {
    target.with_data(Extended::result, 0, {1});       // no value follows
    target.with_data(Extended::counter, 2 << 1, {});  // no value follows
    target.call(1);
    target.with_data(Extended::marker, 9, {5});  // a marker has no data
    target.with_data(Extended::counter, 3 << 1, {8, 9});
    EXPECT_THAT(captured(), IsEmpty());
    ASSERT_EQ(made.counters.size(), 1u);
    EXPECT_EQ(text(made.counters.at(3)), "1 8 8 8; 8x1");
}

TEST_F(CapturedTest, AGapBetweenARecordAndItsDataCostsTheValue) {
    target.with_data(Extended::counter, 3 << 1, {});
    play("| m7 x #");
    target.data({5});
    target.with_data(Extended::counter, 4 << 1, {});
    target.flush();
    target.data({6});
    EXPECT_EQ(report().counters.size(), 1u);
    EXPECT_EQ(text(made.counters.at(4)), "1 6 6 6; 6x1") << "two frames are no gap";
}

TEST_F(CapturedTest, MemoryIsBounded) {
    constexpr std::uint32_t all = 150'000;  // more than --memory allows
    for (std::uint32_t id = 0; id < all; ++id) target.counter(id, 1);
    target.counter(5, 2);
    report();
    EXPECT_GT(made.counters.size(), all / 2);
    EXPECT_LT(made.counters.size(), all);
    EXPECT_GE(made.counters.size() + made.others.left_out, all);
    EXPECT_EQ(made.counters.at(5).count, 2u);
}

TEST_F(CapturedTest, MarksAreShownUpToTwenty) {
    for (std::uint32_t id = 0; id < 25; ++id) target.argument(Extended::marker, id);
    const std::string out = text_report(report());
    EXPECT_THAT(out, HasSubstr("  id 19, core 0\n"));
    EXPECT_THAT(out, Not(HasSubstr("id 20")));
    EXPECT_THAT(out, HasSubstr("  and 5 more\n"));
    EXPECT_EQ(nlohmann::json::parse(json_report(made))["markers"].size(), 25u);
}

// The second reader also reads this recording.
TEST_F(CapturedTest, Golden) {
    for (int i = 0; i < 40; ++i) {
        const std::uint32_t site = 2 + static_cast<std::uint32_t>(i % 3);
        const auto call = target.entry(site);
        target.arguments(site, 0b11, {i % 5, 0x4000'0000'1000 + i});
        if (i % 4 == 0) target.counter(12, 100 - i);
        target.result(site, i % 2 == 0 ? 0 : -22);
        if (i % 15 == 7) target.argument(Extended::marker, 400 + static_cast<std::uint32_t>(i));
        if (i == 20) target.result(3, wide);
        target.ret(call);
    }
    target.counter(0xff'ffff, least);
    const auto outer = target.argument(Extended::interrupt, 27);
    target.ret(target.entry(3), 30);
    target.ret(target.argument(Extended::interrupt, 30), 25);
    target.with_data(Extended::masked, 0, {3, 40});
    target.ret(outer, 15);
    target.with_data(Extended::masked, 0, {700, 90});
    report();
    sort_rows(made.functions, SortKey::self, 0);
    expect_golden("captured.bin", std::string(target.bytes.begin(), target.bytes.end()));
    expect_golden("captured.txt", text_report(made));
    expect_golden("captured.json", json_report(made));
}

}  // namespace nopscope::host::test::captured_test
