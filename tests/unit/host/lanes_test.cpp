// SPDX-License-Identifier: Apache-2.0
// Names of tracks, which task a core runs and when, and what exports make of it.
#include "host-tools/views/export/lanes.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::lanes_test {

class LanesTest : public TasksTest {
protected:
    void tell(EventSink& sink, const Part& part = {}) {
        NamesOfTasks names;
        read(names);
        TaskLabels labels(names.tasks());
        Events stream(sink, known(symbols), "x.nsc", TimeAxis::wall);
        stream.know_tasks(&labels);
        read_part(target, symbols, part, stream, names.tasks());
        sink.finish();
    }
    void tell_checker(const std::string& records, const Part& part = {}) {
        play(records + " end");
        tell(checker, part);
        EXPECT_THAT(checker.wrong, IsEmpty());
    }

    Symbols symbols = symbols_of(target, {"f1", "f2"});
    BalancedChecker checker;
};

TEST_F(LanesTest, ASwitchSaysHowTheCoreLeft) {
    // In the end, nothing says how it left 0 for 1.
    tell_checker("n1=a n2=b 1( c1p 2( c2b 2( c0e 5:)1 c1 7:m3");
    EXPECT_THAT(checker.lanes,
                ElementsAre("core 0: 1010 - -> 0", "core 0: 1020 0 -> 1 preempted",
                            "core 0: 1040 1 -> 2 blocked", "core 0: 1060 2 -> 0 ended",
                            "core 0: 1075 0 -> 1", "core 0: 1082 1 -> -"));
    // Its time away ends with the switch.
    EXPECT_THAT(checker.told,
                testing::IsSupersetOf({"0 +(other context) 1020", "0 -(other context) 1060"}));
}

TEST_F(LanesTest, ATaskThatComesFromAnotherCoreIsLeftInTheSameWay) {
    tell_checker("n1=a 1( c1b <y 2(@1 >1 p 2(");
    EXPECT_THAT(checker.lanes,
                testing::IsSupersetOf({"core 0: 1030 1 -> 0 gave way", "core 1: 1040 - -> 2",
                                       "core 1: 1050 2 -> 1 preempted"}));
    EXPECT_THAT(checker.labels, ElementsAre("core 0", "a", "core 1"));
}

TEST_F(LanesTest, NothingIsKnownToRunInAGap) {
    tell_checker("n1=a 1( c1b | 2( x 30:2(");
    EXPECT_THAT(checker.lanes,
                ElementsAre("core 0: 1010 - -> 0", "core 0: 1020 0 -> 1 blocked",
                            "core 0: 1020 1 -> -", "core 0: 1060 - -> 1", "core 0: 1060 1 -> -"));
}

TEST_F(LanesTest, APartHasTheSwitchesInsideIt) {
    tell_checker("n1=a n2=b 1( c1p 2( c2b 2( c1e", of_time(15, 35));
    EXPECT_THAT(checker.lanes, ElementsAre("core 0: 1025 - -> 0", "core 0: 1040 0 -> 2 blocked",
                                           "core 0: 1045 2 -> -"));
    EXPECT_THAT(checker.labels, ElementsAre("a", "core 0", "b"));
}

TEST_F(LanesTest, ATaskIsMadeReadyBeforeItRuns) {
    tell_checker("n1=a n2=b 1( r2 r1 c1p r0 t1 2(@1 c2b@1 r1@1");  // 2 runs on core 1 later
    EXPECT_THAT(checker.ready,
                testing::UnorderedElementsAre("0 makes 1 ready 1020", "0 makes 2 ready 1030",
                                              "2 makes 0 ready 1050", "1 makes 2 ready 1090"));
    EXPECT_THAT(checker.labels, ElementsAre("core 0", "b", "a", "core 1"));
}

TEST_F(LanesTest, ANumberIsAnotherTaskAfterAReset) {
    tell_checker("n1=a n2=b c1 1( c2 1( end reset hello n1=other n2=b c1 1( c2 1(");
    EXPECT_THAT(checker.labels, ElementsAre("core 0", "a", "b", "other"));
}

TEST_F(LanesTest, LabelsAreOfOneTaskEach) {
    play("n1=a n2=pool n3=pool n0=idle@1 n0=idle@2 n4= end");
    NamesOfTasks names;
    read(names);
    TaskLabels labels(names.tasks());
    ASSERT_TRUE(labels.any());
    const std::tuple<unsigned, std::uint32_t, const char*> expected[] = {
        {0, 1, "a"},         {1, 2, "pool 2"},
        {1, 3, "pool 3"},    {1, 0, "idle (core 1)"},
        {2, 0, "core 2"},    {0, 4, "context 4"},
        {0, 5, "context 5"}, {3, protocol::several_contexts, "core 3, unknown"}};
    for (const auto& [core, context, label] : expected)
        EXPECT_EQ(labels.of(0, core, context).label, label);
    EXPECT_EQ(&labels.of(0, 0, 1), &labels.of(0, 1, 1));  // it moves
    EXPECT_FALSE(TaskLabels(Tasks()).any());
    Tasks nameless;
    MemoryBudget budget;
    nameless.on_record(0, 0, TaskFact::ready, 1, budget);
    EXPECT_FALSE(TaskLabels(nameless).any());
}

// What a format shows: "from>to state at".
struct Shown {
    std::vector<std::string> lines;
    Lanes lanes;
    void pass(std::optional<Track> from, std::optional<Track> to, Nanoseconds at,
              protocol::Left how = protocol::Left::unknown) {
        const auto number = [](const std::optional<Track>& one) { return thread_number(one); };
        lanes.on_switch(
            {.core = 0, .from = from, .to = to, .at = at, .how = how},
            [&](const CoreSwitch& shown, TaskState state) {
                lines.push_back(fmt::format("{}>{} {} {}", number(shown.from), number(shown.to),
                                            "RSTX"[static_cast<int>(state)], shown.at));
            });
    }
};

TEST(Lanes, WithoutNamesBeginAtTheFirstSwitch) {
    const Track own, other{.number = 1, .core = 0, .context = 5};
    for (const bool goes_back : {false, true}) {
        Shown shown{.lines = {}, .lanes = Lanes(goes_back)};
        shown.pass({}, own, 10);
        shown.pass(own, {}, 20);
        EXPECT_THAT(shown.lines, IsEmpty());
        shown.pass({}, own, 30);
        shown.pass(own, other, 40, protocol::Left::blocked);
        shown.pass(other, {}, 50);
        std::vector<std::string> expected{"1>2 S 40", "2>0 T 50"};
        if (goes_back) expected.insert(expected.begin(), "0>1 R 30");
        EXPECT_EQ(shown.lines, expected);
    }
}

TEST(Lanes, WithNamesBeginAtOnce) {
    const TaskOfTrack task{.label = "a"},
        interrupts{.label = "irq", .priority = 0, .runs_interrupts = true};
    const Track own{.task = &task},
        stack{.number = 1, .core = 0, .context = 5, .task = &interrupts};
    Shown shown;
    shown.pass({}, own, 10);
    shown.pass(own, stack, 20);
    shown.pass(stack, own, 30, protocol::Left::preempted);
    shown.pass(own, stack, 40, protocol::Left::ended);
    shown.pass(stack, own, 50);  // its last calls end
    shown.pass(own, {}, 60);
    EXPECT_THAT(shown.lines, ElementsAre("0>1 R 10", "1>2 R 20", "2>1 S 30", "1>2 X 40", "2>1 S 50",
                                         "1>0 X 60"));
    shown.lanes.on_ready(own);
    EXPECT_FALSE(shown.lanes.has_ended(own));
}

class TasksInExports : public LanesTest {
protected:
    TasksInExports() { fs::create_directory(directory); }
    ~TasksInExports() override { fs::remove_all(directory); }
    // All bytes of the export.
    std::string exported(const char* name) {
        const ExportFormat& format = *find_export_format(name);
        const Output output(directory / (format.name == "perfetto" ? "x.gz" : "x"), format.kind);
        tell(*format.stream(output, TimeAxis::wall));
        if (format.kind == Output::Kind::file) return text_of(output.path());
        std::string bytes;
        for (const auto& file : fs::directory_iterator(output.path()))
            bytes += text_of(file.path());
        return bytes;
    }
    const fs::path directory = fs::path(testing::TempDir()) / "tasks_in_exports";
};

TEST_F(TasksInExports, TracksHaveTheirNamesSpeltForTheFormat) {
    target.tasks(facts(1, "a\"b"), facts(2, "c\n2"));
    play("c1 1( c2 1( end");
    for (const char* format : {"chrome", "speedscope"}) {
        EXPECT_THAT(exported(format),
                    AllOf(HasSubstr(R"("name":"a\"b")"), HasSubstr(R"("name":"c\n2")")))
            << format;
    }
    for (const char* format : {"trace-cmd", "uftrace", "ctf"})
        EXPECT_THAT(exported(format), AllOf(HasSubstr("a\"b"), HasSubstr("c\\x0a2"))) << format;
}

TEST_F(TasksInExports, WithoutASwitchThereIsNoScheduler) {
    const auto trace_cmd_and_ctf = [this](const char* calls) {
        play(std::string(calls) + " end");
        return std::pair(exported("trace-cmd"), exported("ctf"));
    };
    EXPECT_THAT(trace_cmd_and_ctf("1("),
                testing::Pair(Not(HasSubstr("sched_")),
                              Not(testing::AnyOf(HasSubstr("sched_"), HasSubstr("domain")))));
    const auto switches = AllOf(HasSubstr("sched_switch"), HasSubstr("core0/1"));
    EXPECT_THAT(trace_cmd_and_ctf("c1 2("),
                testing::Pair(switches, AllOf(switches, HasSubstr("domain = \"kernel\""))));
}

}  // namespace nopscope::host::test::lanes_test
