// SPDX-License-Identifier: Apache-2.0
// Parts of a recording by task, and switches of tasks whose records are late.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::tasks_in_part_test {

class TasksInAPart : public TasksTest {
protected:
    TasksInAPart() {
        target.clock = 0;
        target.entry(1);                         // at 10: the origin
        switch_to(1, protocol::Left::gave_way);  // 20
        target.task_fact(TaskFact::takes, 5);    // 30
        switch_to(2, protocol::Left::blocked);   // 40
        target.task_fact(TaskFact::takes, 5);    // 50
        target.task_fact(TaskFact::gives, 5);    // 60
        switch_to(1, protocol::Left::ended);     // 70
        run(0);
        target.finish();
        target.tasks(facts(1, "one"), facts(2, "two"), ObjectName{5, name("mutex")});
    }
};

TEST_F(TasksInAPart, OfATimeRange) {
    Part part;
    part.time.from = TimePoint{.ns = 35};
    part.time.to = TimePoint{.ns = 55};
    json report = told_of(part);
    EXPECT_EQ(context_of(report, 2)["name"], "two");
    EXPECT_EQ(object_of(report, 5)["name"], "mutex");
    EXPECT_EQ(object_of(report, 5)["takes"], 1);
    EXPECT_EQ(object_of(report, 5)["gives"], 1);
    EXPECT_EQ(report.dump().find("switched_away"), std::string::npos);
}

TEST_F(TasksInAPart, OfATask) {
    Part part;
    part.task = "1";
    json report = told_of(part);
    EXPECT_EQ(object_of(report, 5)["takes"], 1);
    EXPECT_EQ(object_of(report, 5)["gives"], 0);
    EXPECT_EQ(context_of(report, 1)["switched_away"], left(0, 1, 0, 0, 0));
    EXPECT_EQ(context_of(report, 2)["switched_away"], left(0, 0, 0, 1, 0));
}

// The names come after the records. A recording is read for them first; a line is not.
TEST_F(TasksInAPart, OfATaskByName) {
    NamesOfTasks names;
    read(names);
    const auto part_of = [&](const char* task, const Tasks& known) {
        Part part;
        part.task = task;
        return told_of(part, known);
    };
    EXPECT_EQ(part_of("on?", names.tasks()), part_of("1", {}));
    EXPECT_EQ(part_of("two", names.tasks()), part_of("2", names.tasks()));
    EXPECT_THROW(part_of("two", {}), Error) << "not yet known when it ran";
    EXPECT_THAT(error_of([&] { part_of("twop", names.tasks()); }).what(),
                HasSubstr("no task that ran is named twop: did you mean two?"));
}

// The record of the switch from 1 to 2 comes after a return in 2.
class LateSwitch : public TasksTest {
protected:
    LateSwitch() {
        target.clock = 0;
        run(2);
        const std::uint64_t in_two = target.entry(2);
        switch_to(1, protocol::Left::preempted);
        const std::uint64_t in_one = target.entry(1);
        target.ret(in_two, 100);
        switch_to(2, protocol::Left::blocked);
        target.entry(2, 10);
        switch_to(1, protocol::Left::gave_way);
        target.ret(in_one, 7);
        target.finish();
    }
};

TEST_F(LateSwitch, ItsReasonIsThatOfTheTaskThatWasLeft) {
    json report = told();
    EXPECT_EQ(context_of(report, 1)["switched_away"], left(0, 1, 0, 0, 0));
    EXPECT_EQ(context_of(report, 2)["switched_away"], left(1, 0, 1, 0, 0));
}

// In the part of one task, the return in the other one is missing.
TEST_F(LateSwitch, InAPart) {
    const json whole = told();
    for (const unsigned task : {1u, 2u}) {
        Part part;
        part.task = std::to_string(task);
        json shown = told_of(part);
        EXPECT_EQ(context_of(shown, task), context_of(whole, task));
        ASSERT_EQ(shown["functions"].size(), 1u);
        EXPECT_EQ(shown["functions"][0]["self_ns"], context_of(whole, task)["self_ticks"]);
    }
}

}  // namespace nopscope::host::test::tasks_in_part_test
