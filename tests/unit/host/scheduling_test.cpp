// SPDX-License-Identifier: Apache-2.0
// What tasks waited for, and the lines of `nopscope tasks`.
#include "host-tools/analysis/profile/scheduling.hpp"
#include "host-tools/analysis/profile/prices.hpp"
#include "host-tools/analysis/report/task_table.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::scheduling_test {

using protocol::Left;

class SchedulingTest : public StreamReport {
protected:
    SchedulingTest() {
        target.cores = 2;
        target.clock = 0;
        target.hello();
    }
    // At 10 ticks after the last record, as each record but `left`.
    void run(std::uint32_t context, Left how = Left::unknown, std::uint8_t core = 0) {
        target.argument(Extended::context, context, 10, core);
        if (how != Left::unknown) target.left(how, core);
    }
    const TaskWaits& of(std::uint32_t context, unsigned session = 0) {
        if (made.sessions == 0) report();
        return profile.scheduling().tasks().at({session, context, 0});
    }
    // Each context runs for 10 ticks. How a context was left is told after the next one begins.
    void run_each(std::initializer_list<std::pair<std::uint32_t, Left>> all) {
        for (const auto& [context, how] : all) run(context, how);
    }
    void expect(std::uint32_t context, std::uint64_t runs, Ticks ready, Ticks blocked,
                unsigned session = 0) {
        const TaskWaits& waits = of(context, session);
        EXPECT_EQ(std::tuple(waits.runs, waits.ready_ticks, waits.blocked_ticks),
                  std::tuple(runs, ready, blocked))
            << context;
    }
    // "10 ended at 30 on core 0 behind 2"
    std::string longest(std::uint32_t context) {
        const TaskWaits& waits = of(context);
        return fmt::format("{} ended at {} on core {} behind {}", waits.longest, waits.longest_end,
                           waits.longest_core,
                           waits.behind ? std::to_string(waits.behind->context) : "none");
    }
    TaskFacts facts(std::uint32_t number, const char* name) {
        return {.number = number,
                .priority = 3,
                .stack_bytes = 4096,
                .stack_used = 64 * number,
                .name = TargetStream::task_name(name)};
    }
};

TEST_F(SchedulingTest, APreemptedTaskIsReady) {
    // At 10, the recording's begin, 20, 30 and 40.
    run_each({{1, {}}, {2, Left::preempted}, {1, Left::gave_way}, {2, {}}});
    expect(1, 2, 10, 0);
    expect(2, 2, 10, 0);
    EXPECT_EQ(longest(1), "10 ended at 20 on core 0 behind 2");
}

TEST_F(SchedulingTest, ABlockedTaskIsReadyWhenSomebodySaysSo) {
    run(1);                                // 10
    target.task_fact(TaskFact::waits, 5);  // 20
    run(2, Left::blocked);                 // 30
    run(3, Left::blocked);                 // 40: no object
    target.task_fact(TaskFact::ready, 1);  // 50
    run(4, Left::preempted);               // 60
    run(2, Left::blocked);                 // 70: nobody said that it is ready
    run(1, Left::gave_way);                // 80
    expect(1, 2, 80 - 50, 50 - 30);
    expect(2, 2, 0, 70 - 40);
    EXPECT_EQ(of(1).objects.at(5).waits, 1u);
    EXPECT_EQ(of(1).objects.at(5).ticks, 20u);
    EXPECT_TRUE(of(2).objects.empty());
}

// The one that ran longest while it waited, not the last one.
TEST_F(SchedulingTest, BehindWhom) {
    run_each({{1, {}}, {2, Left::preempted}, {3, Left::preempted}});  // 30: of 2, 10
    target.clock += 40;
    run_each({{4, Left::preempted}, {2, Left::preempted}, {1, Left::preempted}});
    EXPECT_EQ(longest(1), "80 ended at 90 on core 0 behind 3");  // of 3, 50; of 2, 20
    EXPECT_EQ(longest(2), "60 ended at 80 on core 0 behind 3");
}

TEST_F(SchedulingTest, WhatRanBeforeTheWaitIsNotInFront) {
    run(3);
    target.clock += 1000;
    run_each({{1, Left::blocked}, {2, Left::preempted}, {1, Left::preempted}});
    EXPECT_EQ(longest(1), "10 ended at 1030 on core 0 behind 2");
}

// Core 1's records come later on the line.
TEST_F(SchedulingTest, AnotherCoreSaysThatATaskIsReady) {
    run(1);                                   // 10
    run(2, Left::blocked);                    // 20
    target.task_fact(TaskFact::ready, 1, 1);  // 30
    run(1, Left::blocked);                    // 40
    target.flush(0);
    target.flush(1);
    expect(1, 2, 10, 10);
}

TEST_F(SchedulingTest, WhatAGapMayHideCountsNowhere) {
    run_each({{1, {}}, {2, Left::preempted}});
    target.flush();
    run(3, Left::preempted);
    target.lose();
    run_each({{1, Left::preempted}, {2, Left::preempted}, {1, Left::preempted}});
    expect(1, 3, 10, 0);
    // It was left in the gap, or not.
    expect(2, 2, 0, 0);
}

TEST_F(SchedulingTest, SessionsAreApart) {
    run_each({{1, {}}, {2, Left::preempted}});
    target.finish();
    target.reset();
    target.hello();
    run_each({{1, {}}, {2, Left::preempted}, {1, Left::preempted}});
    EXPECT_EQ(of(1, 0).runs, 1u);
    expect(1, 2, 10, 0, 1);
}

TEST_F(SchedulingTest, APartBeginsWhileATaskRuns) {
    run_each({{1, {}}, {2, Left::preempted}, {1, Left::preempted}, {2, Left::preempted}});
    target.finish();
    const Symbols symbols = symbols_of(target, {});
    Profile shown;
    Part part;
    part.time.from = TimePoint{.ns = 12};  // the recording begins at 10
    PartStream stream(shown, part, known(symbols), "x.nsc");
    read_line(target, stream);
    // Task 1 began to wait before the part.
    for (const auto& [task, ready] : {std::pair(1u, 0u), {2u, 10u}}) {
        const TaskWaits& waits = shown.scheduling().tasks().at({0, task, 0});
        EXPECT_EQ(std::tuple(waits.runs, waits.ready_ticks), std::tuple(1u, ready)) << task;
    }
}

// More events than wait for each other.
TEST_F(SchedulingTest, ManySwitches) {
    constexpr std::uint64_t rounds = 100'000;
    for (std::uint64_t round = 0; round < rounds; ++round)
        run_each({{1, Left::preempted}, {2, Left::preempted}});
    expect(1, rounds, 10 * (rounds - 1), 0);
    expect(2, rounds, 10 * (rounds - 1), 0);
}

TEST(SchedulingMemory, ItIsChargedAndGivenBack) {
    using Kind = Scheduling::Kind;
    Scheduling scheduling;
    MemoryBudget budget;
    constexpr std::uint64_t room = 2 * price::task + 3 * price::waits_of_object;
    ASSERT_TRUE(budget.take(budget.left() - room));
    scheduling.add(0, 10, Kind::ready, 7, budget);  // it never runs
    scheduling.add(0, 20, Kind::run, 1, budget);
    for (std::uint64_t object = 0; object < 10; ++object)
        scheduling.add(0, 30 + object, Kind::waits, object, budget);
    scheduling.add(0, 40, Kind::run, 2, budget);
    scheduling.on_session_end(0, budget, [](std::uint64_t clock) { return clock; });
    ASSERT_EQ(scheduling.tasks().size(), 1u);
    EXPECT_EQ(scheduling.tasks().at({0, 1, 0}).objects.size(), 3u);
    EXPECT_EQ(scheduling.left_out(), 7u + 1u);
    EXPECT_EQ(budget.left(), price::task) << "of the task that never ran";
}

class TaskLines : public SchedulingTest {
protected:
    TaskLines() {
        target.tasks(facts(1, "worker"), facts(2, "worker"), facts(3, "idle"),
                     ObjectName{5, TargetStream::task_name("mutex")});
        run(1);                                // 10
        target.task_fact(TaskFact::waits, 5);  // 20
        run(2, Left::blocked);                 // 30
        run(3, Left::gave_way);                // 40
        target.task_fact(TaskFact::ready, 1);  // 50
        run(1, Left::preempted);               // 60
        run(0, Left::ended);                   // 70
        run(0, Left::unknown, 1);              // 80
    }
    TaskTable table(bool each = false) {
        report();
        return task_table(made, profile, {.idle = {"idle"}, .only = {}, .each = each});
    }
};

TEST_F(TaskLines, TasksOfOneNameAreOne) {
    const TaskTable made_of = table();
    ASSERT_GE(made_of.tasks.size(), 2u);
    const TaskLine& worker = made_of.tasks[0];
    const auto figures =
        std::tuple(worker.name, worker.tasks, worker.cpu_ns, worker.runs, worker.priority,
                   worker.stack_used, worker.ready_ns, worker.blocked_ns, worker.behind);
    EXPECT_EQ(figures, std::tuple("worker", 2u, 20u + 10 + 10, 3u, 3u, 128u, 10u, 20u, "idle"));
    ASSERT_EQ(worker.waited_for.size(), 1u);
    EXPECT_EQ(worker.waited_for[0].name, "mutex");
    EXPECT_EQ(worker.waited_for[0].blocked_ns, 20u);
    EXPECT_EQ(made_of.tasks[1].name, "idle");
    EXPECT_TRUE(made_of.tasks[1].is_idle);
    ASSERT_EQ(made_of.cores.size(), 1u);
    EXPECT_EQ(made_of.cores[0].cpu_ns, 60u);
    EXPECT_EQ(made_of.cores[0].idle_ns, 20u);
}

TEST_F(TaskLines, TasksWithoutANameAreOne) {
    run_each({{7, {}}, {8, {}}, {0, {}}});
    const TaskTable made_of = table();
    const TaskLine& unnamed = named(made_of.tasks, "(tasks without a name)");
    EXPECT_EQ(unnamed.tasks, 2u);
    EXPECT_EQ(unnamed.cpu_ns, 20u);
}

TEST_F(TaskLines, OfEachTask) {
    std::vector<std::string> names;
    for (const TaskLine& line : table(true).tasks) names.push_back(line.name);
    EXPECT_THAT(names, IsSupersetOf({"worker (1)", "worker (2)", "idle (3)"}));
}

}  // namespace nopscope::host::test::scheduling_test
