// SPDX-License-Identifier: Apache-2.0
// A core's contexts and its markers: which context a call and a time belong to.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/unit/host/report_fixture.hpp"
#include "tests/unit/host/test_files.hpp"

namespace nopscope::host {
namespace {

using protocol::Extended;

class Contexts : public test::StreamReport {
protected:
    Contexts() { target.hello(); }
    void context(std::uint32_t number, std::uint64_t ticks = 10) {
        target.argument(Extended::context, number, ticks);
    }
    // The row of f1, f2, ... by site. The functions' names are their addresses.
    const FunctionRow& of(unsigned site) {
        if (made.sessions == 0) report();
        return row(made, site);
    }
    void expect(unsigned site, std::uint64_t calls, std::uint64_t total, std::uint64_t self) {
        EXPECT_EQ(of(site).calls, calls) << site;
        EXPECT_EQ(of(site).total_ns, total) << site;
        EXPECT_EQ(of(site).self_ns, self) << site;
        EXPECT_EQ(profile.decoder().orphan_returns, 0u);
    }
    // "parent>child" of each node, by site.
    std::vector<std::string> paths() {
        std::vector<std::string> list;
        const auto& nodes = profile.tree().nodes();
        const auto name = [&](std::uint32_t node) {
            if (node == CallTree::after_gap) return std::string("?");
            return std::to_string(profile.functions().offset(nodes[node].function) / 8);
        };
        for (std::uint32_t node = 3; node < nodes.size(); ++node) {
            const std::uint32_t parent = nodes[node].parent;
            list.push_back((parent == CallTree::root ? "" : name(parent) + ">") + name(node));
        }
        std::sort(list.begin(), list.end());
        return list;
    }
};

using Paths = std::vector<std::string>;

TEST_F(Contexts, AFunctionsTimesAddUp) {
    target.ret(target.entry(1), 5);
    context(1);
    target.ret(target.entry(1), 7);
    report();
    const std::vector<FunctionTimes> times = profile.times();
    ASSERT_EQ(times.size(), 2u);  // the first entry belongs to no function
    EXPECT_EQ(times[1].self_ticks, 12u);
    EXPECT_EQ(times[1].total_ticks, 12u);
}

TEST_F(Contexts, EachHasItsOwnStackAndTime) {
    const auto a = target.entry(1);
    context(1);
    const auto b = target.entry(2);
    context(0);
    target.ret(target.entry(3), 5);
    target.ret(a);
    context(1);
    target.ret(b);
    expect(1, 1, 55, 30);  // 20 in the other context, 5 in its callee
    expect(2, 1, 55, 20);
    expect(3, 1, 5, 5);
    EXPECT_EQ(paths(), (Paths{"1", "1>3", "2"}));
    EXPECT_TRUE(made.integrity.clean);
}

TEST_F(Contexts, TheSameFunctionInTwoCountsTwice) {
    const auto a = target.entry(1);
    context(1);
    target.ret(target.entry(1), 30);
    context(0);
    target.ret(a);
    expect(1, 2, 30 + 70, 30 + 20);
}

TEST_F(Contexts, TracerTimeCountsForNoCallThereEither) {
    const auto a = target.entry(1);
    context(1);
    const auto b = target.entry(2);
    target.tracer(1000);
    target.ret(b);
    context(0);
    target.tracer(500);
    target.ret(a);
    expect(2, 1, 10, 10);
    expect(1, 1, 50, 20);
    EXPECT_EQ(profile.tracer_ticks(), 1500u);
}

// The task is preempted while it works for the tracer: only the rest of that work is in the time in
// which the other one does not run.
TEST_F(Contexts, TheTracersWorkGoesOnBehindASwitch) {
    const auto a = target.entry(1);
    target.extended(Extended::tracer_begin);
    context(1, 1000);
    const auto b = target.entry(2);
    target.tracer(500);
    context(0);
    target.extended(Extended::tracer_end);
    context(1);
    target.ret(b);
    context(0);
    target.ret(a);
    expect(1, 1, 70, 30);
    expect(2, 1, 30, 20);
    EXPECT_EQ(profile.tracer_ticks(), 1510u);
}

// The same, by an interrupt whose calls are on top of that work at the switch.
TEST_F(Contexts, AnInterruptOnTopOfTheTracersWorkSwitches) {
    const auto a = target.entry(1);
    target.extended(Extended::tracer_begin);
    const auto switches = target.entry(3);
    context(1);
    const auto b = target.entry(2);
    target.tracer(500);
    context(0);
    target.ret(switches);
    target.extended(Extended::tracer_end);
    context(1);
    target.ret(b);
    context(0);
    target.ret(a);
    expect(1, 1, 90, 30);
    expect(2, 1, 40, 20);
    expect(3, 1, 40, 20);
    EXPECT_EQ(profile.tracer_ticks(), 520u);
}

TEST_F(Contexts, OpenCallsRunUntilTheEnd) {
    target.entry(1);
    context(1);
    target.ret(target.entry(2), 100);
    expect(1, 1, 120, 10);
    EXPECT_EQ(of(1).open, 1u);
}

// Recording was stopped or the ring was full. The switch has no record, but the return names its
// entry. The time of the switch is unknown, so the time before the return belongs to no context.
TEST_F(Contexts, AReturnFindsItsContext) {
    const auto a = target.entry(1);
    context(1);
    const auto b = target.entry(2);
    target.argument(Extended::marker, 1, 6);
    target.ret(a);
    target.ret(b);
    expect(1, 1, 36, 10);
    expect(2, 1, 26, 6);
    EXPECT_EQ(of(1).unwound + of(2).unwound, 0u);
}

TEST_F(Contexts, AFrameSaysWhereItBegins) {
    const auto a = target.entry(1);
    target.flush();
    context(7);
    const auto b = target.entry(2);
    target.flush();
    const auto c = target.entry(3);
    target.ret(c);
    target.ret(b);
    context(0);
    target.ret(a);
    report();
    EXPECT_EQ(paths(), (Paths{"1", "2", "2>3"}));
}

// The record of the switch is lost with its frame.
TEST_F(Contexts, AGapDoesNotConfuseThem) {
    target.entry(1);
    target.flush();
    context(7);
    target.lose();
    target.skip_sequence(protocol::Stream::trace);
    const auto b = target.entry(2);
    context(0);
    target.ret(target.entry(3));
    context(7);
    target.ret(target.entry(4));
    target.ret(b);
    report();
    EXPECT_EQ(paths(), (Paths{"1", "2", "2>4", "?>3"}));
    EXPECT_EQ(profile.decoder().orphan_returns, 0u);
    EXPECT_EQ(of(2).incomplete + of(4).incomplete, 0u);
}

// Calls stay open in a context that does not run again. The time afterwards is neither their self
// time nor that of the other calls.
TEST_F(Contexts, AfterAGapACallHasNoTimeInWhichItDidNotRun) {
    target.entry(1);
    context(7);
    const auto b = target.entry(2);
    target.flush();
    target.entry(9, 30);
    target.lose();
    target.skip_sequence(protocol::Stream::trace);
    target.ret(target.entry(3, 500));
    target.ret(b, 200);
    expect(1, 1, 30 + 500 + 10 + 200 + 20, 10);
    expect(2, 1, 30 + 500 + 10 + 200, 200);
    const auto& list = profile.contexts();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].context, 0u);
    EXPECT_EQ(list[0].ran_ticks, 10u);
    EXPECT_EQ(list[0].self_ticks, 10u);
    EXPECT_EQ(list[1].context, 7u);
    EXPECT_EQ(list[1].ran_ticks, 10u + 10 + 200);
    EXPECT_EQ(list[1].self_ticks, 10u + 200);
}

TEST_F(Contexts, TheReportSaysHowLongEachRan) {
    target.ret(target.entry(1), 30);
    context(2, 7);
    target.ret(target.entry(2, 3), 50);
    target.tracer(1000);
    context(0, 5);
    target.ret(target.entry(2, 3), 20);
    report();
    const auto json = nlohmann::json::parse(json_report(made))["contexts"];
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["ran_ticks"], 30 + 7 + 3 + 20);
    EXPECT_EQ(json[0]["self_ticks"], 30 + 20);
    EXPECT_EQ(json[0]["tracer_ticks"], 0);
    EXPECT_EQ(json[1]["context"], 2);
    EXPECT_EQ(json[1]["self_ticks"], 50);
    EXPECT_EQ(json[1]["tracer_ticks"], 1000);
    EXPECT_EQ(json[1]["session"], 0);
}

TEST_F(Contexts, MissingPartsLieWithinTheRecording) {
    target.entry(1);
    target.entry(2, 40);
    target.drop(5);
    target.clock += 1000;  // the last stats frame is newer than the last record
    report();
    ASSERT_EQ(made.missing.size(), 1u);
    EXPECT_EQ(made.missing[0].dropped, 5u);
    EXPECT_EQ(made.missing[0].to_ns, 40u);
    for (const MissingRow& row : made.missing) {
        EXPECT_LE(row.from_ns, row.to_ns);
        EXPECT_LE(row.to_ns, made.duration_ns);
    }
}

TEST_F(Contexts, AnyNumberOfThemIsRead) {
    for (std::uint32_t i = 0; i < 5000; ++i) {
        context(i * 977 % protocol::argument_mask);
        target.entry(1);
    }
    EXPECT_EQ(of(1).calls, 5000u);
}

TEST_F(Contexts, MarkersAreShownWithTheirFunction) {
    target.entry(1);
    target.argument(Extended::marker, 42, 90);
    context(3);
    target.argument(Extended::marker, 7, 10);
    report();
    const auto json = nlohmann::json::parse(json_graph(made, profile, {}))["markers"];
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["id"], 42);
    EXPECT_EQ(json[0]["time_ns"], 90);
    EXPECT_EQ(json[0]["function"], of(1).name);
    EXPECT_EQ(json[1]["context"], 3);
    EXPECT_TRUE(json[1]["function"].is_null());
    const std::string text = text_graph(made, profile, {});
    EXPECT_NE(text.find("id 42, core 0  " + of(1).name + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("id 7, core 0, context 3\n"), std::string::npos) << text;
    EXPECT_EQ(profile.decoder().unknown_records, 0u);
}

// The second reader also reads this recording.
TEST_F(Contexts, Golden) {
    target.records_per_frame = 7;
    std::uint64_t open[4];
    for (std::uint32_t i = 0; i < 4; ++i) {
        context(i, 3);
        open[i] = target.entry(i, 10 + i);
    }
    for (std::uint32_t round = 0; round < 40; ++round) {
        const std::uint32_t in = round * 7 % 4;
        context(in, 5);
        const auto a = target.entry(in + 1, 11);
        const auto b = target.entry(round % 5, 6);
        if (round % 6 == 1) target.tracer(700 + round);
        target.ret(b, 3);
        if (round == 17) {
            target.flush();
            context(2, 50);
            target.entry(3, 10);
            target.lose();
            target.skip_sequence(protocol::Stream::trace);
        }
        if (round == 30) context((in + 1) % 4, 9);
        target.ret(a, 4);
        if (round == 25) target.ret(open[1], 8);
    }
    target.ret(open[2]);
    // A task that pumps outside of all calls is switched out meanwhile.
    context(5, 20);
    target.extended(Extended::tracer_begin, 4);
    context(0, 30);
    target.ret(target.entry(4, 7), 400);
    context(5, 2);
    target.extended(Extended::tracer_end, 60);
    target.entry(2, 9);
    context(6, 5);
    // After the last gap, neither context 5 nor the calls open in context 0 run again.
    target.flush();
    target.entry(1, 40);
    target.lose();
    target.skip_sequence(protocol::Stream::trace);
    target.entry(3, 300);
    target.tracer(50);
    context(protocol::several_contexts, 25);
    context(6, 90);
    report();
    test::expect_golden("contexts.bin", std::string(target.bytes.begin(), target.bytes.end()));
    sort_rows(made.functions, SortKey::self, 0);
    test::expect_golden("contexts.json", json_report(made));
}

}  // namespace
}  // namespace nopscope::host
