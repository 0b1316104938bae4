// SPDX-License-Identifier: Apache-2.0
// Names and facts of tasks: from a target's frames and records to the JSON of a report.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::tasks_test {

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
    run(3);
    run(4);
    run(5);
    run(0);
    json report = told();
    json one = context_of(report, 3);
    for (const char* key :
         {"session", "core", "context", "ran_ticks", "self_ticks", "tracer_ticks"})
        EXPECT_EQ(one.erase(key), 1u) << key;
    EXPECT_EQ(one, json({{"name", "idle"},
                         {"priority", 7},
                         {"id", 0x123456789abcdef0},
                         {"interrupts", true},
                         {"ended", true},
                         {"stack", {{"low", "0x40100000"}, {"bytes", 4096}, {"used", 300}}}}));
    one = context_of(report, 4);
    EXPECT_EQ(std::tuple(one["name"], one["interrupts"], one["ended"]),
              std::tuple("", false, true));
    EXPECT_FALSE(one.contains("stack"));
    EXPECT_EQ(context_of(report, 5).size(), 6u);  // nothing is told
    EXPECT_EQ(context_of(report, 9), nullptr);    // it did not run
    EXPECT_FALSE(report.contains("objects"));
    EXPECT_EQ(report["integrity"]["malformed_frames"], 0);
}

TEST_F(TasksTest, ALaterFrameReplacesAnEarlierOne) {
    run(1);
    run(0);
    target.tasks(TaskFacts{.number = 1, .priority = 1, .stack_bytes = 8, .name = name("long name")},
                 ObjectName{5, name("old")});
    target.tasks(TaskFacts{.number = 1, .priority = 2, .name = name("b")},
                 ObjectName{5, name("new")});
    json report = told();
    json one = context_of(report, 1);
    EXPECT_EQ(one["name"], "b");
    EXPECT_EQ(one["priority"], 2);
    EXPECT_FALSE(one.contains("stack"));
    EXPECT_EQ(object_of(report, 5)["name"], "new");
    EXPECT_EQ(report["objects"].size(), 1u);
}

// Context 0 is each core's own; another one is the same on all cores.
TEST_F(TasksTest, EachCoreHasItsOwnContext0) {
    target.tasks(facts(0, "boot 0", 1), facts(0, "boot 1", 2), facts(0, "nowhere", 0),
                 facts(2, "worker", 1));
    target.entry(1, 10);
    target.entry(1, 10, 1);
    run(2);
    run(2, 1);
    run(0);
    run(0, 1);
    json report = told();
    for (const unsigned core : {0, 1}) {
        EXPECT_EQ(context_of(report, 0, core)["name"], "boot " + std::to_string(core));
        EXPECT_EQ(context_of(report, 2, core)["name"], "worker");
    }
    EXPECT_EQ(profile.tasks().find(0, ~0u, 0), nullptr);
}

TEST_F(TasksTest, LeftIsOfTheContextBefore) {
    target.call(1);
    switch_to(1, protocol::Left::preempted);  // of context 0
    switch_to(2, protocol::Left::blocked);    // of context 1
    target.left(protocol::Left::blocked);     // a second one says nothing
    switch_to(1, protocol::Left::gave_way);   // of context 2
    switch_to(2, protocol::Left::blocked);
    switch_to(1, protocol::Left::ended);
    run(3);  // without a reason
    switch_to(1, protocol::Left::unknown);
    switch_to(3, static_cast<protocol::Left>(7));  // of a later version
    run(1);
    json report = told();
    const json away[] = {left(1, 0, 0, 0, 0), left(0, 2, 0, 0, 1), left(0, 0, 1, 1, 0),
                         left(0, 0, 0, 0, 1)};
    for (unsigned n = 0; n < 4; ++n) EXPECT_EQ(context_of(report, n)["switched_away"], away[n]);
    EXPECT_FALSE(context_of(report, 1).contains("name"));
}

TEST_F(TasksTest, LeftComesBehindMoved) {
    run(1);
    run(2, 1);
    target.arrive(1, 1, 0, target.leave(0));
    target.left(protocol::Left::preempted, 1);
    json report = told();
    EXPECT_EQ(context_of(report, 2, 1)["switched_away"], left(1, 0, 0, 0, 0));
    EXPECT_FALSE(context_of(report, 1, 1).contains("switched_away"));
    EXPECT_FALSE(context_of(report, 1, 0).contains("switched_away"));
}

TEST_F(TasksTest, LeftOfAnUnknownContextCountsNowhere) {
    run(1);
    run(protocol::several_contexts);
    run(2);
    target.left(protocol::Left::blocked);  // of several
    target.left(protocol::Left::blocked);  // without a switch
    run(3);
    target.flush();
    run(4);
    target.lose();
    target.left(protocol::Left::blocked);  // its `context` record is lost
    target.entry(1);
    run(0);
    EXPECT_EQ(told().dump().find("switched_away"), std::string::npos);
    EXPECT_EQ(made.integrity.value("gaps"), 1u);
}

TEST_F(TasksTest, ReadyCountsForTheContextThatItNames) {
    run(1);
    run(2, 1);
    target.tasks(facts(protocol::several_contexts, "several"));
    target.task_fact(TaskFact::ready, 2);
    target.task_fact(TaskFact::ready, 2, 1);
    target.task_fact(TaskFact::ready, 0, 1);
    target.task_fact(TaskFact::ready, protocol::several_contexts);
    target.task_fact(TaskFact::ready, (std::uint64_t{1} << 32) + 1);
    run(2);
    run(0);
    run(0, 1);
    target.call(1, 10, 1);
    run(protocol::several_contexts);
    target.call(1);
    json report = told();
    EXPECT_EQ(context_of(report, 2, 0)["ready"], 2);
    EXPECT_EQ(context_of(report, 2, 1)["ready"], 2);
    EXPECT_EQ(context_of(report, 0, 1)["ready"], 1);
    EXPECT_EQ(context_of(report, 0, 0).size(), 6u);
    EXPECT_EQ(context_of(report, protocol::several_contexts).size(), 6u);
    EXPECT_FALSE(context_of(report, 1, 0).contains("ready"));
}

TEST_F(TasksTest, ObjectsCountRecords) {
    constexpr std::uint64_t largest = protocol::data_mask;
    target.tasks(ObjectName{1, name("mutex")}, ObjectName{2, name("unused")});
    for (int i = 0; i < 3; ++i) target.task_fact(TaskFact::takes, 1);
    for (int i = 0; i < 2; ++i) target.task_fact(TaskFact::gives, 1, 1);
    target.task_fact(TaskFact::waits, 1);
    target.task_fact(TaskFact::gives, largest);
    json report = told();
    EXPECT_EQ(report["objects"], json::parse(R"([
        {"session": 0, "id": 1, "name": "mutex", "takes": 3, "gives": 2, "waits": 1},
        {"session": 0, "id": 2, "name": "unused", "takes": 0, "gives": 0, "waits": 0},
        {"session": 0, "id": 144115188075855871, "name": null, "takes": 0, "gives": 1, "waits": 0}])"));
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
    json report = told();
    EXPECT_EQ(report["objects"].size(), 1u);
    EXPECT_EQ(object_of(report, 8)["takes"], 1);
    EXPECT_EQ(report["functions"][0]["calls"], 1);
}

TEST_F(TasksTest, UnknownItemsAndLongerOnesAreSkipped) {
    raw_tasks({
        9, 3,  0xff, 0xff, 0xff,                                          // an unknown item
        0, 13, 1,    0,    0,    5,   0,  0,  0, 0, 2, 'a', 'b', 99, 98,  // two further bytes
        1, 6,  7,    2,    'x',  'y', 97, 96,                             // likewise
    });
    run(1);
    run(0);
    json report = told();
    EXPECT_EQ(context_of(report, 1)["name"], "ab");
    EXPECT_EQ(context_of(report, 1)["priority"], 5);
    EXPECT_EQ(object_of(report, 7)["name"], "xy");
    EXPECT_EQ(report["integrity"]["malformed_frames"], 0);
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
    target.tasks(facts(1, "first"), ObjectName{1, name("mutex")});
    run(1);
    target.task_fact(TaskFact::takes, 1);
    for (const Bytes& each : wrong) {
        Bytes both = good;
        both.insert(both.end(), each.begin(), each.end());
        if (each == wrong[5]) both.resize(both.size() + 32, 'n');
        raw_tasks(both);
    }
    target.ret(target.entry(1));
    run(0);
    json report = told();
    EXPECT_EQ(report["integrity"]["malformed_frames"], wrong.size());
    for (const char* other : {"unknown_frames", "lost_frames", "gaps"})
        EXPECT_EQ(report["integrity"][other], 0) << other;
    EXPECT_EQ(context_of(report, 1)["name"], "first");
    EXPECT_EQ(report["objects"].size(), 1u);
    EXPECT_EQ(object_of(report, 1)["takes"], 1);
    EXPECT_EQ(report["functions"][0]["calls"], 1);
}

TEST_F(TasksTest, AHostileNameIsSafeInJson) {
    target.tasks(facts(1, std::string_view("\x1b[2J\0\xff\"<\xe2\x82", 10)),
                 ObjectName{1, name("\xed\xa0\x80\n")});
    run(1);
    run(0);
    const std::string text = json_report(report());
    for (const char byte : text) ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f));
    json report = json::parse(text);
    EXPECT_EQ(context_of(report, 1)["name"],
              std::string("\x1b[2J\0\xef\xbf\xbd\"<\xef\xbf\xbd\xef\xbf\xbd", 16));
    EXPECT_EQ(object_of(report, 1)["name"], "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n");
}

TEST_F(TasksTest, SessionsDoNotMix) {
    const auto boot = [this](const char* task, const char* object, TaskFact fact) {
        target.tasks(facts(1, task), ObjectName{5, name(object)});
        run(1);
        target.task_fact(fact, 5);
        target.task_fact(TaskFact::ready, 1);
        run(0);
        target.left(protocol::Left::blocked);
        target.finish();
    };
    boot("one", "first", TaskFact::takes);
    target.reset();
    target.hello();
    boot("two", "second", TaskFact::gives);
    target.reset();
    target.hello();
    run(1);  // nothing is told of this boot's
    run(0);
    json report = told();
    EXPECT_EQ(context_of(report, 1, 0, 0)["name"], "one");
    EXPECT_EQ(context_of(report, 1, 0, 1)["name"], "two");
    EXPECT_EQ(context_of(report, 1, 0, 2).size(), 6u);
    for (unsigned session : {0, 1}) {
        EXPECT_EQ(context_of(report, 1, 0, session)["ready"], 1);
        EXPECT_EQ(context_of(report, 1, 0, session)["switched_away"], left(0, 1, 0, 0, 0));
    }
    EXPECT_EQ(report["objects"], json::parse(R"([
        {"session": 0, "id": 5, "name": "first", "takes": 1, "gives": 0, "waits": 0},
        {"session": 1, "id": 5, "name": "second", "takes": 0, "gives": 1, "waits": 0}])"));
}

TEST_F(TasksTest, ZeroKeepsFactsAndForgetsCounts) {
    Profile profile;
    SessionReader reader(profile);
    std::size_t at = 0;
    const auto feed = [&] {
        target.flush();
        reader.feed(std::span(target.bytes).subspan(std::exchange(at, target.bytes.size())));
    };
    target.tasks(facts(1, "task"), ObjectName{5, name("mutex")});
    run(1);
    for (const TaskFact fact : {TaskFact::takes, TaskFact::gives, TaskFact::waits})
        target.task_fact(fact, 5);
    target.task_fact(TaskFact::takes, 6);
    target.task_fact(TaskFact::ready, 1);
    switch_to(0, protocol::Left::blocked);
    run(1);
    feed();
    profile.zero();
    target.task_fact(TaskFact::waits, 5);
    target.ret(target.entry(1));
    feed();
    target.tasks(facts(2, "later"));
    switch_to(2, protocol::Left::ended);
    run(1);
    target.finish();
    feed();
    Profile copy(profile);
    reader.finish();
    copy.on_session_end();
    for (json report : {told_by(profile), told_by(copy)}) {
        json one = context_of(report, 1);
        EXPECT_EQ(one["name"], "task");
        EXPECT_EQ(one["switched_away"], left(0, 0, 0, 1, 0));
        EXPECT_FALSE(one.contains("ready"));
        EXPECT_EQ(context_of(report, 2)["name"], "later");
        EXPECT_EQ(report["objects"], json::parse(R"([
            {"session": 0, "id": 5, "name": "mutex", "takes": 0, "gives": 0, "waits": 1}])"));
    }
}

// Short calls are left out, but not what happened to tasks.
TEST_F(TasksTest, CountWithoutShortCalls) {
    profile.leave_out_shorter(1000, true);
    target.tasks(facts(1, "task"));
    run(1);
    target.ret(target.entry(1));
    target.task_fact(TaskFact::takes, 5);
    switch_to(0, protocol::Left::blocked);
    json report = told();
    EXPECT_EQ(context_of(report, 1)["name"], "task");
    EXPECT_EQ(context_of(report, 1)["switched_away"], left(0, 1, 0, 0, 0));
    EXPECT_EQ(object_of(report, 5)["takes"], 1);
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
    Report report = make_report(profile, profile.counters(), nullptr);
    sort_rows(report.functions, SortKey::self, 0);
    expect_golden("tasks.json", json_report(report));
}

}  // namespace nopscope::host::test::tasks_test
