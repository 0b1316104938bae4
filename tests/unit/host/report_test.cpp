// SPDX-License-Identifier: Apache-2.0
// From bytes to the printed report: numbers, order, escaping and refusals.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::report_test {

// "3 calls, total 17, self 17, min 3, max 9"
std::string text(const FunctionRow& row) {
    const std::string all =
        fmt::format("{} calls, total {}, self {}", row.calls, row.total_ns, row.self_ns);
    return row.call ? fmt::format("{}, min {}, max {}", all, row.call->min_ns, row.call->max_ns)
                    : all;
}

TEST_F(ReportTest, NumbersAreExact) {
    target.clock_hz = 62'500'000;  // 16 ns a tick
    const Report& result = report_of("1( 1:2( 5:) 1:2( 3:) 1:2( 9:) 0:t( 1000:t) 10:) 3. 4( 5:m0");
    EXPECT_EQ(text(row(result, "f2")), "3 calls, total 272, self 272, min 48, max 144");
    EXPECT_EQ(row(result, "f2").address, TargetStream::text_base + 16);
    EXPECT_EQ(row(result, "f2").line, 12u);
    EXPECT_EQ(text(row(result, "f1")), "1 calls, total 480, self 208, min 480, max 480");
    EXPECT_NEAR(row(result, "f1").share, 13.0 / (13 + 17 + 5), 1e-9);
    EXPECT_EQ(result.tracer_ns, 1000u * 16);
    EXPECT_EQ(text(row(result, "f3")), "1 calls, total 0, self 0");
    EXPECT_EQ(text(row(result, "f4")), "1 calls, total 80, self 80");
    EXPECT_EQ(row(result, "f4").open, 1u);
    EXPECT_EQ(result.duration_ns, (30u + 1000 + 10 + 10 + 5) * 16);
    EXPECT_TRUE(result.integrity.clean);
}

TEST(Ticks, BecomeNanosecondsWithoutOverflowAndRounded) {
    EXPECT_EQ(ticks_to_ns(3, 1'000'000'000), 3u);
    EXPECT_EQ(ticks_to_ns(1, 54'000'000), 19u);  // 18.52
    EXPECT_EQ(ticks_to_ns(54'000'000ull * 86400 * 365, 54'000'000), 86400ull * 365 * 1'000'000'000);
}

TEST_F(ReportTest, TheLoadBiasIsTakenOff) {
    target.load_bias = 0x100000;
    EXPECT_EQ(report_of("5.").functions.at(0).name, "f5");
}

TEST_F(ReportTest, SessionsAddUp) {
    const Report& result = report_of("1( 7:) end reset hello 1( 7:)");
    EXPECT_EQ(result.sessions, 2u);
    EXPECT_EQ(text(row(result, "f1")), "2 calls, total 14, self 14, min 7, max 7");
    EXPECT_EQ(result.duration_ns, 14u);
    EXPECT_THAT(text_report(result), HasSubstr("the target was reset 1 time\n"));
}

TEST_F(ReportTest, AnyCoreMayBeFirstAndLastAndHaveTheShortestCall) {
    target.cores = 3;
    const Report& result = report_of("0:2(@1 3:1( 5:) 1:1(@1 17:) 2:1(@2 9:) 4:)");
    EXPECT_EQ(text(row(result, "f1")), "3 calls, total 31, self 31, min 5, max 17");
    EXPECT_EQ(result.duration_ns, 3u + 5 + 1 + 17 + 2 + 9 + 4);
}

TEST_F(ReportTest, SortAndTop) {
    auto rows = report_of("1( 1:) 1( 1:) 1( 1:) 2( 3( 50:) 2:)").functions;
    const auto first = [&](SortKey key) {
        sort_rows(rows, key, 0);
        return rows.front().name;
    };
    for (const auto& [key, name] : {std::pair(SortKey::calls, "f1"),
                                    {SortKey::total, "f2"},
                                    {SortKey::self, "f3"},
                                    {SortKey::max, "f2"}})
        EXPECT_EQ(first(key), name);
    sort_rows(rows, SortKey::self, 2);
    EXPECT_EQ(rows.size(), 2u);
}

TEST_F(ReportTest, HostileNamesDriveNoTerminalAndBreakNoJson) {
    target.image = "\x1b[2J\xff\"quoted\"\n";
    const Report& result = report_of("1.");
    const std::string text = text_report(result);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_THAT(text, HasSubstr("\\x1b[2J\\xff\"quoted\"\\x0a"));
    EXPECT_EQ(json::parse(json_report(result))["image"]["name"], "\x1b[2J\xef\xbf\xbd\"quoted\"\n");
}

TEST_F(ReportTest, RefusalsAreSentences) {
    EXPECT_THROW(or_throw(make_report(profile, profile.counters(), nullptr)), Error);
    target.version = 5;
    target.hello();
    EXPECT_STREQ(error_of([&] { report(); }).what(),
                 "the target speaks trace format 5, and this nopscope reads 2 to 4");
}

TEST_F(ReportTest, AFunctionThatIsNoPatchSiteIsAFaultAndIsShown) {
    const Report& result = report_of("1() 2() 70000() 2() i27(");
    EXPECT_EQ(result.integrity.value("unknown_sites"), 1u);
    EXPECT_FALSE(result.integrity.clean);
    EXPECT_THAT(integrity_line(result.integrity), HasSubstr("unknown_sites 1"));
    EXPECT_EQ(json::parse(json_report(result))["integrity"]["unknown_sites"], 1);
    EXPECT_EQ(row(result, hex_address(TargetStream::text_base + 70'000 * 8)).calls, 1u);
}

TEST_F(ReportTest, WithoutTheImageMoreFunctionsThanItHasSitesAreAFault) {
    target.site_count = 3;
    play("hello 1() 2() 3() i27( |");
    profile.feed(target.bytes);
    EXPECT_EQ(integrity_of(profile, profile.counters(), nullptr).value("unknown_sites"), 0u);
    target.bytes.clear();
    play("4( 5(");
    const Report result = StreamReport::report();
    EXPECT_EQ(result.integrity.value("unknown_sites"), 2u);
    EXPECT_FALSE(result.integrity.clean);
}

TEST_F(ReportTest, TheGraphIsTheCallTree) {
    const Report& result = report_of("1( 2( 30:) 2( 30:) 3. ) 2( 5:)");
    const auto nodes = [&](const GraphOptions& options) {
        return json::parse(json_graph(result, profile, options))["nodes"];
    };
    std::vector<std::string> paths;
    for (const auto& node : nodes({})) {
        const auto& parent = node["parent"];
        const std::string above = parent.is_null() ? "" : nodes({})[parent.get<int>()]["name"];
        paths.push_back(fmt::format("{}>{} {} {} {}", above, node["name"].get<std::string>(),
                                    node["calls"].dump(), node["total_ns"].dump(),
                                    node["self_ns"].dump()));
    }
    EXPECT_THAT(paths, ElementsAre(">f1 1 100 40", "f1>f2 2 60 60", "f1>f3 1 0 0", ">f2 1 5 5"));
    EXPECT_EQ(nodes({.depth = 1}).size(), 2u);
    EXPECT_EQ(nodes({.min_share = 0.5}).size(), 2u);
}

TEST_F(ReportTest, CallsAfterAGapHaveNoCaller) {
    const Report& result = report_of("1( | 2( x 3( 5:) 5:)1");
    EXPECT_THAT(text_graph(result, profile, {}), HasSubstr("(callers lost in a gap)\n"));
    EXPECT_THAT(
        integrity_line(result.integrity),
        HasSubstr("generated 5 = delivered 4 + dropped 0 + lost 1; corrupt_frames 0, gaps 1"));
}

TEST_F(ReportTest, APathOfAnyDepthIsPrinted) {
    target.hello();
    for (int i = 0; i < 20000; ++i) target.entry(1, 1);
    const Report& result = report();
    EXPECT_GT(text_graph(result, profile, {}).size(), 20000u);
    EXPECT_EQ(json::parse(json_graph(result, profile, {}))["nodes"].size(), 20000u);
}

// A recording with every kind of record, and its printed report, byte for byte.
class Golden : public ReportTest {
protected:
    Golden() {
        target.build_id = std::string("\x5e\xed\x00\x01", 4);
        target.clock_hz = 54'000'000;
        target.records_per_frame = 16;
        target.hello();
        target.console("golden\n");
        for (int round = 0; round < 12; ++round) {
            play(fmt::format("20:1( 15:2( 5:9. 10:2( 10:) 4:3( {}:)", 100 + round));
            if (round == 1) play("0:t( 5000:t)");
            play(round % 4 == 1 ? "5:)!" : "5:)");
            if (round == 6) play("drop4");
            if (round == 7) play("| 5:4( x #");
            play(round == 9 ? "7:)1 stats" : "7:)1");
        }
        play("50:5(");
        target.extended(Extended::sync, 25);
        target.bytes[target.frame_ends[4] - 3] ^= 0x10;  // one corrupt frame
    }
};

TEST_F(Golden, StreamAndReports) {
    Report result = report();
    expect_golden("stream.bin", std::string(target.bytes.begin(), target.bytes.end()));
    sort_rows(result.functions, SortKey::self, 0);
    expect_golden("report.txt", text_report(result));
    expect_golden("report.json", json_report(result));
    expect_golden("report.csv", csv_report(result));
    expect_golden("graph.txt", text_graph(result, profile, {}));
}

TEST_F(ReportTest, TheTotalOfALostCallHasItsRecursionOnce) {
    // 2 returns 15 ticks after the outer 2 began
    const Report& result = report_of("1( 2( 2( 5:) | 3( x # )1");
    EXPECT_EQ(row(result, "f2").lost, 1u);
    EXPECT_THAT(text(row(result, "f2")), HasSubstr(" calls, total 15, self 15"));
}

TEST_F(ReportTest, EachLackByItselfIsUnclean) {
    report_of("1()");
    const Symbols names = symbols();
    ASSERT_TRUE(integrity_of(profile, profile.counters(), &names).clean);
    for (const auto lack :
         {&StreamCounters::dropped, &StreamCounters::lost, &StreamCounters::gaps,
          &StreamCounters::lost_frames, &StreamCounters::duplicate_frames,
          &StreamCounters::undecoded_frames, &StreamCounters::malformed_frames,
          &StreamCounters::frames_without_hello, &StreamCounters::unfinished_sessions,
          &StreamCounters::other_image_sessions, &StreamCounters::inconsistent,
          &StreamCounters::shadow_stack_full, &StreamCounters::off_stack,
          &StreamCounters::stray_returns, &StreamCounters::undeferred,
          &StreamCounters::console_dropped}) {
        nsc::Counters counters = profile.counters();
        counters.stream.*lack = 1;
        EXPECT_FALSE(integrity_of(profile, counters, &names).clean);
    }
}

}  // namespace nopscope::host::test::report_test
