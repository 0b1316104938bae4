// SPDX-License-Identifier: Apache-2.0
// A core's contexts, its markers and the interrupts that the firmware reports: which context and
// which function a call and a time belong to.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::context_test {

class Contexts : public PlayedReport {
protected:
    Contexts() { target.hello(); }
    void context(std::uint32_t number, std::uint64_t ticks = 10) {
        target.argument(Extended::context, number, ticks);
    }
    json told() { return json::parse(json_report(report())); }
    // "parent>child" of each node, by site.
    std::string paths() {
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
        return joined(list);
    }
};

struct Case {
    const char* name;
    const char* records;
    const char* rows;
    const char* paths;
    Ticks tracer = 0;
};
class ContextsOf : public Contexts, public testing::WithParamInterface<Case> {};

TEST_P(ContextsOf, Records) {
    const std::string records = GetParam().records;
    play(records);
    EXPECT_EQ(rows(), GetParam().rows);
    EXPECT_EQ(paths(), GetParam().paths);
    EXPECT_EQ(profile.tracer_ticks(), GetParam().tracer);
    EXPECT_EQ(profile.decoder().orphan_returns, 0u);
    EXPECT_EQ(made.integrity.clean, records.find('x') == records.npos);
}
constexpr Case cases[] = {
    // Of call 1, 20 are in the other context, 5 in its callee.
    {"EachHasItsOwnStackAndTime", "1( c1 2( c0 3( 5:) )1 c1 )2", "f1 1 55 30, f2 1 55 20, f3 1 5 5",
     "1, 1>3, 2"},
    {"TheSameFunctionInTwoCountsTwice", "1( c1 1( 30:) c0 )", "f1 2 100 50", "1"},
    {"TracerTimeCountsForNoCallThereEither", "1( c1 2( 0:t( 1000:t) ) c0 0:t( 500:t) )",
     "f1 1 50 20, f2 1 10 10", "1, 2", 1500},
    // The task is preempted while it works for the tracer: only the rest of that work is in the
    // time in which the other one does not run.
    {"TheTracersWorkGoesOnBehindASwitch", "1( t( 1000:c1 2( 0:t( 500:t) c0 t) c1 )2 c0 )1",
     "f1 1 70 30, f2 1 30 20", "1, 2", 1510},
    // The same, by an interrupt whose calls are on top of that work at the switch.
    {"AnInterruptOnTopOfTheTracersWorkSwitches", "1( t( 3( c1 2( 0:t( 500:t) c0 )3 t) c1 )2 c0 )1",
     "f1 1 90 30, f3 1 40 20, f2 1 40 20", "1, 1>3, 2", 520},
    {"OpenCallsRunUntilTheEnd", "1( c1 2( 100:)", "f1 1 120 10 open 1, f2 1 100 100", "1, 2"},
    // Recording was stopped or the ring was full. The switch has no record, but the return names
    // its entry. The time of the switch is unknown, so the time before the return belongs to no
    // context.
    {"AReturnFindsItsContext", "1( c1 2( 6:m1 )1 )2", "f1 1 36 10, f2 1 26 6", "1, 2"},
    {"AFrameSaysWhereItBegins", "1( | c7 2( | 3() )2 c0 )1", "f1 1 70 20, f2 1 30 20, f3 1 10 10",
     "1, 2, 2>3"},
    // The record of the switch is lost with its frame.
    {"AGapDoesNotConfuseThem", "1( | c7 x # 2( c0 3() c7 4() )2",
     "f1 1 90 0 open 1 incomplete 1, f2 1 70 30, f3 1 10 10, f4 1 10 10", "1, 2, 2>4, ?>3"},
    {"AnInterruptsTimeIsNotTheInterruptedFunctionsOwn", "1( 5:i27( 20:2( 30:) 50:) 7:)",
     "f1 1 112 12, (interrupt 27) 1 100 70, f2 1 30 30", "1, 1>27, 27>2"},
    {"InterruptsNestAndAreApartByNumber", "i1( i2( 100:) i2( 200:) )",
     "(interrupt 1) 1 330 30, (interrupt 2) 2 300 300", "1, 1>2"},
    // Interrupts 27 and 0 beside the functions whose sites have the offsets 8 * 27 and 0.
    {"InterruptsAreNotTheFunctionOfTheSameOffset", "27( 5:) i27( 100:) i0( 1000:) 0( 7:)",
     "f27 1 5 5, (interrupt 27) 1 100 100, (interrupt 0) 1 1000 1000, f0 1 7 7", "0, 0, 27, 27"},
    {"AnInterruptWhoseEndIsMissingEndsWithItsCaller", "1( 5:i27( 50:)1 2( 3:)",
     "f1 1 55 5, (interrupt 27) 1 50 50 unwound 1, f2 1 3 3", "1, 1>27, 2"},
};
INSTANTIATE_TEST_SUITE_P(, ContextsOf, testing::ValuesIn(cases), name_of_course);

TEST_F(Contexts, AFunctionsTimesAddUp) {
    play("1( 5:) c1 1( 7:)");
    report();
    EXPECT_EQ(profile.times().at(1).self_ticks, 12u);  // the first entry belongs to no function
    EXPECT_EQ(profile.times().at(1).total_ticks, 12u);
}

// Calls stay open in a context that does not run again. The time afterwards is neither their self
// time nor that of the other calls.
TEST_F(Contexts, AfterAGapACallHasNoTimeInWhichItDidNotRun) {
    play("1( c7 2( | 30:9( x # 500:3() 200:)2");
    EXPECT_EQ(rows(), "f1 1 760 10 open 1 incomplete 1, f2 1 740 200 incomplete 1, f3 1 10 10");
    json list;
    for (const auto& of : profile.contexts())
        list.push_back({of.context, of.ran_ticks, of.self_ticks});
    EXPECT_EQ(list, json({{0, 10, 10}, {7, 10 + 10 + 200, 10 + 200}}));
}

TEST_F(Contexts, TheReportSaysHowLongEachRan) {
    play("1( 30:) 7:c2 3:2( 50:) 0:t( 1000:t) 5:c0 3:2( 20:)");
    const json all = told();
    json found;
    for (const json& of : all["contexts"]) {
        found.push_back(
            {of["context"], of["session"], of["ran_ticks"], of["self_ticks"], of["tracer_ticks"]});
    }
    EXPECT_EQ(found, json({{0, 0, 60, 50, 0}, {2, 0, 1058, 50, 1000}}));
}

TEST_F(Contexts, MissingPartsLieWithinTheRecording) {
    play("1( 40:2(");
    target.drop(5);
    target.clock += 1000;  // the last stats frame is newer than the last record
    report();
    ASSERT_EQ(made.missing.size(), 1u);
    EXPECT_EQ(made.missing[0].dropped, 5u);
    EXPECT_EQ(made.missing[0].to_ns, 40u);
    EXPECT_LE(made.missing[0].from_ns, made.missing[0].to_ns);
    EXPECT_LE(made.missing[0].to_ns, made.duration_ns);
}

TEST_F(Contexts, AnyNumberOfThemIsRead) {
    for (std::uint32_t i = 0; i < 5000; ++i) {
        context(i * 977 % protocol::argument_mask);
        target.entry(1);
    }
    EXPECT_EQ(row(report(), 1).calls, 5000u);
}

TEST_F(Contexts, MarkersAreShownWithTheirFunction) {
    play("1( 90:m42 c3 m7");
    report();
    const std::string name = row(made, 1).name;
    const json marks = json::parse(json_graph(made, profile, {}))["markers"];
    json found;
    for (const json& mark : marks)
        found.push_back({mark["id"], mark["time_ns"], mark["context"], mark["function"]});
    EXPECT_EQ(found, json({{42, 90, 0, name}, {7, 110, 3, nullptr}}));
    const std::string text = text_graph(made, profile, {});
    EXPECT_THAT(text, HasSubstr("id 42, core 0  " + name + "\n"));
    EXPECT_THAT(text, HasSubstr("id 7, core 0, context 3\n"));
    EXPECT_EQ(profile.decoder().unknown_records, 0u);
}

using Interrupts = Contexts;

TEST_F(Interrupts, NothingIsTakenOffThem) {
    target.calibrated = true;
    target.overheads[protocol::overhead_index(protocol::Recorder::graph)] = {
        3 * protocol::overhead_unit, 2 * protocol::overhead_unit};
    target.bytes.clear();
    target.hello();
    play("i27( 2( 30:) 50:)");
    ASSERT_EQ(report().functions.size(), 2u);
    EXPECT_EQ(made.functions[0].corrected.self_ns, 60u - 2u);
    EXPECT_EQ(made.functions[0].corrected.total_ns, 90u - 5u);
}

TEST_F(Interrupts, TheEventsOfTheirCallsAreNotTheInterruptedFunctionsOwn) {
    play("1( i27( 2()");
    target.with_data(Extended::events, protocol::events_argument(0x11), {70});
    play(") )");
    target.with_data(Extended::events, protocol::events_argument(0x11), {100});
    ASSERT_EQ(report().events.rows.size(), 2u);
    EXPECT_EQ(made.events.rows[0].cells[0].total, 100u);
    EXPECT_EQ(made.events.rows[0].cells[0].self, 30u);
}

TEST_F(Interrupts, AreAPartOfJsonByThemselves) {
    play("1() i27( 40:) masked=3,25");
    const json all = told();
    EXPECT_EQ(all["functions"].size(), 1u);
    ASSERT_EQ(all["interrupts"].size(), 1u);
    const json& interrupt = all["interrupts"][0];
    EXPECT_EQ(json({interrupt["interrupt"], interrupt["total_ns"]}), json({27, 40}));
    ASSERT_EQ(all["masked"].size(), 1u);
    const json& masked = all["masked"][0];
    EXPECT_EQ(json({masked["length_ns"], masked["at_ns"], masked["address"]}),
              json({25, 70, fmt::format("{:#x}", TargetStream::text_base + 12)}));
}

TEST_F(Interrupts, NoneAreNotMentioned) {
    play("1()");
    EXPECT_THAT(json_report(report()), Not(HasSubstr("interrupt")));
    EXPECT_THAT(made.masked, IsEmpty());
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
            play("3( x #");
        }
        if (round == 30) context((in + 1) % 4, 9);
        target.ret(a, 4);
        if (round == 25) target.ret(open[1], 8);
    }
    target.ret(open[2]);
    // A task that pumps outside of all calls is switched out meanwhile.
    play("20:c5 4:t( 30:c0 7:4( 400:) 2:c5 60:t) 9:2( 5:c6");
    // After the last gap, neither context 5 nor the calls open in context 0 run again.
    play("| 40:1( x # 300:3( 0:t( 50:t)");
    context(protocol::several_contexts, 25);
    context(6, 90);
    report();
    expect_golden("contexts.bin", std::string(target.bytes.begin(), target.bytes.end()));
    sort_rows(made.functions, SortKey::self, 0);
    expect_golden("contexts.json", json_report(made));
}

}  // namespace nopscope::host::test::context_test
