// SPDX-License-Identifier: Apache-2.0
// Names and facts of tasks: from a target's frames and records to the JSON of a report.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::tasks_test {

class TasksTold : public TasksTest, public testing::WithParamInterface<Course> {};
TEST_P(TasksTold, ByTheReport) {
    play(GetParam().words);
    EXPECT_EQ(told(), GetParam().told);
    EXPECT_EQ(made.integrity.value("malformed_frames"), 0u);
}
constexpr Course courses[] = {
    // Context 0 is each core's own; another one is the same on all cores. A name of context 0 is
    // that of core 0 for @1, of core 1 for @2, of none for @0.
    {"EachCoreHasItsOwnContext0",
     "n0=boot0@1 n0=boot1@2 n0=nowhere@0 n2=worker@1 1( c0@1 c2@1 c2 c0@1 c0",
     "0@0: \"boot0\"\n2@0: \"worker\"\n0@1: \"boot1\"\n2@1: \"worker\"\n"},
    // A second "left" says nothing, and one of a later version is unknown.
    {"LeftIsOfTheContextBefore", "1. c1p c2b b c1y c2b c1e c3 c1u c3z c1",
     "0@0: preempted 1\n1@0: blocked 2, unknown 1\n2@0: ended 1, gave_way 1\n3@0: unknown 1\n"},
    {"ObjectsCountRecords", "o1=mutex o2=unused t1 t1 t1 g1@1 g1@1 w1 g144115188075855871",
     "object 1: \"mutex\", takes 3, gives 2, waits 1\n"
     "object 2: \"unused\", takes 0, gives 0, waits 0\n"
     "object 144115188075855871: null, takes 0, gives 1, waits 0\n"},
    // Nothing is told of the last boot's.
    {"SessionsDoNotMix",
     "n1=one o5=first c1 t5 r1 c0b end reset hello n1=two o5=second c1 g5 r1 c0b end reset hello "
     "c1 c0",
     "1@0: \"one\", ready 1, blocked 1\nsession 1, 1@0: \"two\", ready 1, blocked 1\n"
     "object 5: \"first\", takes 1, gives 0, waits 0\n"
     "session 1, object 5: \"second\", takes 0, gives 1, waits 0\n"},
    // The record of the switch from 1 to 2 comes after a return in 2.
    {"AReasonIsThatOfTheTaskThatWasLeft", "c2 2( c1p 1( 100:)2 c2b 2( c1y 7:)1",
     "2@0: gave_way 1, preempted 1\n1@0: blocked 1\n"},
    {"LeftComesBehindMoved", "c1 c2@1 < >1 p", "2@1: preempted 1\n"},
    // Of several contexts; without a switch; the `context` record is lost.
    {"LeftOfAnUnknownContextCountsNowhere", "c1 c33554431 c2 b b c3 | c4 x b 1( c0", ""},
    {"ReadyCountsForTheContextThatItNames",
     "n33554431=several c1 c2@1 r2 r2@1 r0@1 r33554431 r4294967297 c2 c0 c0@1 1.@1 c33554431 1.",
     "2@0: ready 2\n0@1: ready 1\n2@1: ready 2\n"},
};
INSTANTIATE_TEST_SUITE_P(, TasksTold, testing::ValuesIn(courses), name_of_course);

TEST_F(TasksTest, FactsAreInTheEntryOfTheContext) {
    target.tasks(TaskFacts{.number = 3,
                           .core = 1,
                           .flags = protocol::runs_interrupts | protocol::has_ended,
                           .priority = 7,
                           .id = 0x123456789abcdef0,
                           .stack_low = 0x40100000,
                           .stack_bytes = 4096,
                           .stack_used = 300,
                           .name = name("idle")},
                 TaskFacts{.number = 4, .flags = protocol::has_ended, .name = name("")},
                 facts(9, "has not run"));
    play("c3 c4 c5 c0");
    const json report = reported();
    json one = context_of(report, 3), untold = context_of(report, 5);
    EXPECT_EQ(untold.size(), 6u);
    for (const auto& [key, value] : untold.items()) EXPECT_EQ(one.erase(key), 1u) << key;
    EXPECT_EQ(one, json::parse(R"({"name": "idle", "priority": 7, "id": 1311768467463790320,
        "interrupts": true, "ended": true,
        "stack": {"low": "0x40100000", "bytes": 4096, "used": 300}})"));
    one = context_of(report, 4);
    EXPECT_EQ(std::tuple(one["name"], one["interrupts"], one["ended"]),
              std::tuple("", false, true));
    EXPECT_FALSE(one.contains("stack"));
    EXPECT_EQ(context_of(report, 9), nullptr);  // it did not run
    EXPECT_FALSE(report.contains("objects"));
    EXPECT_EQ(report["integrity"]["malformed_frames"], 0);
}

TEST_F(TasksTest, ALaterFrameReplacesAnEarlierOne) {
    play("c1 c0");
    target.tasks(TaskFacts{.number = 1, .priority = 1, .stack_bytes = 8, .name = name("long")});
    target.tasks(TaskFacts{.number = 1, .priority = 2, .name = name("b")});
    play("o5=old o5=new");
    EXPECT_EQ(told(), "1@0: \"b\"\nobject 5: \"new\", takes 0, gives 0, waits 0\n");
    const json one = context_of(json_of(profile), 1);
    EXPECT_EQ(one["priority"], 2);
    EXPECT_FALSE(one.contains("stack"));
}

// A later version may add facts, and data to known ones.
TEST_F(TasksTest, UnknownFactsAndLongerOnesAreSkipped) {
    const auto fact = [this](TaskFact fact, unsigned words,
                             const std::vector<std::uint64_t>& data) {
        target.argument(Extended::task, protocol::task_argument(fact, words));
        target.data(data);
    };
    fact(static_cast<TaskFact>(31), 2, {1, 2});
    fact(static_cast<TaskFact>(6), 0, {});
    fact(TaskFact::takes, 2, {8, 9});
    fact(TaskFact::takes, 0, {7});  // without its data
    fact(TaskFact::takes, 2, {7});  // half of its data
    target.entry(1);
    EXPECT_EQ(told(), "object 8: null, takes 1, gives 0, waits 0\n");
    EXPECT_EQ(row(made, 1).calls, 1u);
}

TEST_F(TasksTest, UnknownItemsAndLongerOnesAreSkipped) {
    target.frame(Stream::tasks, Bytes{
                                    9, 3,  0xff, 0xff, 0xff,  // an unknown item
                                    0, 13, 1,    0,    0,    5,   0,  0,
                                    0, 0,  2,    'a',  'b',  99,  98,      // 2 bytes more
                                    1, 6,  7,    2,    'x',  'y', 97, 96,  // likewise
                                });
    play("c1 c0");
    EXPECT_EQ(told(), "1@0: \"ab\"\nobject 7: \"xy\", takes 0, gives 0, waits 0\n");
    EXPECT_EQ(context_of(json_of(profile), 1)["priority"], 5);
    EXPECT_EQ(made.integrity.value("malformed_frames"), 0u);
}

TEST_F(TasksTest, AMalformedFrameCountsAndLosesNothingElse) {
    const Bytes good{0, 9, 1, 0, 0, 5, 0, 0, 0, 0, 0};  // it would rename context 1
    const std::vector<Bytes> wrong{
        {0},                                                      // no size
        {0, 9, 1, 0},                                             // cut
        {0, 3, 1, 0, 0},                                          // too few fields
        {0, 9, 1, 0, 0, 5, 0, 0, 0, 0, 1},                        // no name, which has 1 byte
        {1, 3, 7, 2, 'x'},                                        // the name ends behind the item
        {1, 34, 7, 32},                                           // a name of 32 bytes
        {0, 10, 1, 0x81, 2, 0, 5, 0, 0, 0, 0, 0},                 // core 256
        {0, 12, 0x80, 0x80, 0x80, 0x10, 0, 0, 5, 0, 0, 0, 0, 0},  // context 2^25
        {9, 0x80},                                                // half a size
    };
    play("n1=first o1=mutex c1 t1 |");
    for (const Bytes& each : wrong) {
        Bytes both = good;
        both.insert(both.end(), each.begin(), each.end());
        if (each == wrong[5]) both.resize(both.size() + 32, 'n');
        target.frame(Stream::tasks, both);
    }
    play("1() c0");
    EXPECT_EQ(told(), "1@0: \"first\"\nobject 1: \"mutex\", takes 1, gives 0, waits 0\n");
    EXPECT_EQ(made.integrity.value("malformed_frames"), wrong.size());
    for (const char* other : {"unknown_frames", "lost_frames", "gaps"})
        EXPECT_EQ(made.integrity.value(other), 0u) << other;
    EXPECT_EQ(row(made, 1).calls, 1u);
}

TEST_F(TasksTest, AHostileNameIsSafeInJson) {
    target.tasks(facts(1, std::string_view("\x1b[2J\0\xff\"<\xe2\x82", 10)),
                 ObjectName{1, name("\xed\xa0\x80\n")});
    play("c1 c0");
    const std::string text = json_report(report());
    for (const char byte : text) ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f));
    const json parsed = json::parse(text);
    EXPECT_EQ(context_of(parsed, 1)["name"],
              std::string("\x1b[2J\0\xef\xbf\xbd\"<\xef\xbf\xbd\xef\xbf\xbd", 16));
    EXPECT_EQ(parsed["objects"][0]["name"], "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n");
}

TEST_F(TasksTest, ZeroKeepsFactsAndForgetsCounts) {
    Profile live;
    SessionReader reader(live);
    const auto feed = [&](const std::string& course) {
        play(course + " |");
        reader.feed(std::exchange(target.bytes, {}));
    };
    feed("n1=task o5=mutex c1 t5 g5 w5 t6 r1 c0b c1");
    live.zero();
    feed("w5 1()");
    feed("n2=later c2e c1 end");
    Profile copy(live);
    reader.finish();
    copy.on_session_end();
    for (const Profile* const of : {&live, &copy})
        EXPECT_EQ(told_by(json_of(*of)),
                  "1@0: \"task\", ended 1\n2@0: \"later\"\n"
                  "object 5: \"mutex\", takes 0, gives 0, waits 1\n");
}

// Short calls are left out, but not what happened to tasks.
TEST_F(TasksTest, CountWithoutShortCalls) {
    profile.leave_out_shorter(1000, true);
    play("n1=task c1 1() t5 c0b");
    EXPECT_EQ(told(), "1@0: \"task\", blocked 1\nobject 5: null, takes 1, gives 0, waits 0\n");
}

TEST_F(TasksTest, LaterObjectsThanTheMostAreLeftOut) {
    constexpr std::uint64_t most = Tasks::max_entries;
    for (std::uint64_t id = 0; id < most + 3; ++id) target.task_fact(TaskFact::takes, id);
    target.task_fact(TaskFact::takes, 0);
    report();
    EXPECT_EQ(profile.tasks().objects().size(), most);
    EXPECT_EQ(profile.tasks().objects().at({0, 0}).takes, 2u);
    EXPECT_EQ(made.others.left_out, 3u);
}

TEST_F(TasksTest, TheBudgetLeavesLaterOnesOut) {
    MemoryBudget budget(0);
    Tasks tasks;
    Bytes payload(protocol::max_payload_bytes);
    protocol::TasksWriter out(payload.data());
    out.put(facts(1, "task"));
    EXPECT_TRUE(tasks.on_frame(0, payload.data(), out.size(), budget));
    tasks.on_left(0, 0, 1, protocol::Left::blocked, budget);
    tasks.on_record(0, 0, TaskFact::takes, 1, budget);
    EXPECT_EQ(tasks.find(0, 0, 1), nullptr);
    EXPECT_EQ(tasks.left(0, 0, 1), nullptr);
    EXPECT_TRUE(tasks.objects().empty());
    EXPECT_EQ(tasks.left_out(), 3u);
}

// Parts of a recording, by time and by task.
class TasksInAPart : public TasksTest {
protected:
    TasksInAPart() {
        target.clock = 0;
        // At 10, the origin, and each 10 later.
        play("1( c1y t5 c2b t5 g5 c1e c0 end n1=one n2=two o5=mutex");
    }
};

TEST_F(TasksInAPart, OfATimeRange) {
    EXPECT_EQ(told_by(reported_of(of_time(35, 55))),
              "2@0: \"two\"\nobject 5: \"mutex\", takes 1, gives 1, waits 0\n");
}

TEST_F(TasksInAPart, OfATask) {
    EXPECT_EQ(told_by(reported_of(of_task("1"))),
              "0@0: gave_way 1\n1@0: \"one\", blocked 1\n2@0: \"two\", ended 1\n"
              "object 5: \"mutex\", takes 1, gives 0, waits 0\n");
}

// The names come after the records. A recording is read for them first; a line is not.
TEST_F(TasksInAPart, OfATaskByName) {
    NamesOfTasks names;
    read(names);
    EXPECT_EQ(reported_of(of_task("on?"), names.tasks()), reported_of(of_task("1")));
    EXPECT_EQ(reported_of(of_task("two"), names.tasks()), reported_of(of_task("2"), names.tasks()));
    EXPECT_THROW(reported_of(of_task("two")), Error) << "not yet known when it ran";
    EXPECT_THAT(error_of([&] { reported_of(of_task("twop"), names.tasks()); }).what(),
                HasSubstr("no task that ran is named twop: did you mean two?"));
}

// The record of the switch from 1 to 2 comes after a return in 2. In the part of one task, the
// return in the other one is missing.
TEST_F(TasksTest, ALateSwitchInAPart) {
    target.clock = 0;
    play("c2 2( c1p 1( 100:)2 c2b 2( c1y 7:)1");
    const json whole = reported();
    for (const unsigned task : {1u, 2u}) {
        const json shown = reported_of(of_task(std::to_string(task)));
        EXPECT_EQ(context_of(shown, task), context_of(whole, task));
        ASSERT_EQ(shown["functions"].size(), 1u);
        EXPECT_EQ(shown["functions"][0]["self_ns"], context_of(whole, task)["self_ticks"]);
    }
}

// Tasks that switch, wait and end, on two cores and in two boots, with damaged frames.
TargetStream busy_tasks() {
    TargetStream target;
    target.cores = 2;
    target.records_per_frame = 40;
    std::mt19937 random(17);
    for (int boot = 0; boot < 2; ++boot) {
        target.hello();
        for (int i = 0; i < 600; ++i) {
            const auto core = static_cast<std::uint8_t>(random() % 2);
            const auto context = static_cast<std::uint32_t>(random() % 4 * 2 + core);
            const auto entry = target.entry(random() % 5, 20, core);
            target.ret(entry, random() % 90, core);
            if (i % 3 == 0) {
                target.argument(Extended::context, context < 2 ? 0 : context, 10, core);
                if (i % 2 == 0) target.left(static_cast<protocol::Left>(random() % 6), core);
            }
            const auto fact = static_cast<TaskFact>(2 + random() % 5);
            if (i % 2 == 0) target.task_fact(fact, random() % 6, core);
            if (i % 150 == 70) target.lose();
            if (i % 100 != 50) continue;
            const auto number = static_cast<std::uint32_t>(i / 100);
            target.tasks(facts(number, "task " + std::to_string(i), number % 2 + 1),
                         TaskFacts{.number = 2,
                                   .flags = static_cast<std::uint64_t>(i % 4),
                                   .priority = random(),
                                   .id = 0x40000000u + number,
                                   .stack_low = 0xffff000000001000,
                                   .stack_bytes = 2048,
                                   .stack_used = random() % 2048,
                                   .name = name("\xff\x1b[0m \xe2\x82")},
                         ObjectName{number, name("object")});
            if (i == 250) {
                target.payload()[0] = 0;
                target.frame(Stream::tasks, 0, 1);
            }
        }
        target.finish();
        if (boot == 0) target.reset();
    }
    return target;
}

// The second reader also reads this recording.
TEST(BusyTasks, Golden) {
    const Bytes line = busy_tasks().bytes;
    expect_golden("tasks.bin", std::string(line.begin(), line.end()));
    LineProfile profile;
    profile.read(line);
    Report report = or_throw(make_report(profile, profile.counters(), nullptr));
    sort_rows(report.functions, SortKey::self, 0);
    expect_golden("tasks.json", json_report(report));
}

}  // namespace nopscope::host::test::tasks_test
