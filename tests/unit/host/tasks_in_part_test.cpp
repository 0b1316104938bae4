// SPDX-License-Identifier: Apache-2.0
// Parts of a recording by task, and switches of tasks whose records are late.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::tasks_in_part_test {

class TasksInAPart : public TasksTest {
protected:
    TasksInAPart() {
        target.clock = 0;
        // At 10, the origin, and each 10 later.
        take("1( c1g t5 c2b t5 g5 c1e c0");
        target.finish();
        take("n1=one n2=two o5=mutex");
    }
};

TEST_F(TasksInAPart, OfATimeRange) {
    Part part;
    part.time = {TimePoint{.ns = 35}, TimePoint{.ns = 55}};
    EXPECT_EQ(told_by(reported_of(part)),
              "2@0: \"two\"\nobject 5: \"mutex\", takes 1, gives 1, waits 0\n");
}

TEST_F(TasksInAPart, OfATask) {
    EXPECT_EQ(told_by(reported_of(part_of("1"))),
              "1@0: \"one\", blocked 1\n2@0: \"two\", ended 1\n"
              "object 5: \"mutex\", takes 1, gives 0, waits 0\n");
}

// The names come after the records. A recording is read for them first; a line is not.
TEST_F(TasksInAPart, OfATaskByName) {
    NamesOfTasks names;
    read(names);
    EXPECT_EQ(reported_of(part_of("on?"), names.tasks()), reported_of(part_of("1")));
    EXPECT_EQ(reported_of(part_of("two"), names.tasks()), reported_of(part_of("2"), names.tasks()));
    EXPECT_THROW(reported_of(part_of("two")), Error) << "not yet known when it ran";
    EXPECT_THAT(error_of([&] { reported_of(part_of("twop"), names.tasks()); }).what(),
                HasSubstr("no task that ran is named twop: did you mean two?"));
}

// The record of the switch from 1 to 2 comes after a return in 2. In the part of one task, the
// return in the other one is missing.
TEST_F(TasksTest, ALateSwitchInAPart) {
    target.clock = 0;
    take("c2 2( c1p 1( 100:)2 c2b 2( c1g 7:)1");
    const json whole = reported();
    for (const unsigned task : {1u, 2u}) {
        const json shown = reported_of(part_of(std::to_string(task)));
        EXPECT_EQ(context_of(shown, task), context_of(whole, task));
        ASSERT_EQ(shown["functions"].size(), 1u);
        EXPECT_EQ(shown["functions"][0]["self_ns"], context_of(whole, task)["self_ticks"]);
    }
}

}  // namespace nopscope::host::test::tasks_in_part_test
