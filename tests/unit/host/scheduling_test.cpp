// SPDX-License-Identifier: Apache-2.0
// What tasks waited for, and the lines of `nopscope tasks`.
#include "host-tools/figures/profile/scheduling.hpp"
#include "host-tools/calls/prices.hpp"
#include "host-tools/figures/report/task_table.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::scheduling_test {

class SchedulingTest : public TasksTest {
protected:
    SchedulingTest() { target.clock = 0; }
    // Of each task, as "1: 2 runs, ready 10, blocked 0, longest 10 ended at 20 on 0 behind 2,
    // object 5: 1 waits 20". Each word of `course` takes 10 ticks. How a context was left is told
    // after the next one begins.
    std::string waits(const Profile& of) {
        std::vector<std::string> all;
        for (const auto& [key, waits] : of.scheduling().tasks()) {
            all.push_back(fmt::format("{}{}: {} runs, ready {}, blocked {}",
                                      key.session == 0 ? "" : "again ", key.context, waits.runs,
                                      waits.ready_ticks, waits.blocked_ticks));
            if (waits.longest != 0) {
                all.back() += fmt::format(", longest {} ended at {} on {} behind {}", waits.longest,
                                          waits.longest_end, waits.longest_core,
                                          waits.behind.value().context);
            }
            for (const auto& [id, object] : waits.objects) {
                all.back() +=
                    fmt::format(", object {}: {} waits {}", id, object.waits, object.ticks);
            }
        }
        return joined(all, "\n");
    }
    std::string waits(const std::string& course) {
        play(course);
        report();
        return waits(profile);
    }
};

class Waits : public SchedulingTest, public testing::WithParamInterface<Course> {};
TEST_P(Waits, AreThoseOfTheRecords) { EXPECT_EQ(waits(GetParam().words), GetParam().told); }
constexpr Course courses[] = {
    // At 10, the recording's begin, 20, 30 and 40.
    {"APreemptedTaskIsReady", "c1 c2p c1y c2",
     "1: 2 runs, ready 10, blocked 0, longest 10 ended at 20 on 0 behind 2\n"
     "2: 2 runs, ready 10, blocked 0, longest 10 ended at 30 on 0 behind 1"},
    // Task 1 is blocked at 30 on object 5, and ready at 50. Task 2 is blocked at 40 on no object,
    // and runs at 70: nobody said that it is ready.
    {"ABlockedTaskIsReadyWhenSomebodySaysSo", "c1 w5 c2b c3b r1 c4p c2b c1y",
     "1: 2 runs, ready 30, blocked 20, longest 30 ended at 70 on 0 behind 2, object 5: 1 waits 20\n"
     "2: 2 runs, ready 0, blocked 30\n3: 1 runs, ready 0, blocked 0\n"
     "4: 1 runs, ready 0, blocked 0"},
    // Behind the one that ran longest while it waited, not the last one.
    {"BehindWhom", "c1 c2p c3p 50:c4p c2p c1p",
     "1: 2 runs, ready 80, blocked 0, longest 80 ended at 90 on 0 behind 3\n"
     "2: 2 runs, ready 60, blocked 0, longest 60 ended at 80 on 0 behind 3\n"
     "3: 1 runs, ready 0, blocked 0\n4: 1 runs, ready 0, blocked 0"},
    {"WhatRanBeforeTheWaitIsNotInFront", "c3 1010:c1b c2p c1p",
     "1: 2 runs, ready 10, blocked 0, longest 10 ended at 1030 on 0 behind 2\n"
     "2: 1 runs, ready 0, blocked 0\n3: 1 runs, ready 0, blocked 0"},
    // Core 1's records come later on the line.
    {"AnotherCoreSaysThatATaskIsReady", "c1 c2b r1@1 c1b",
     "1: 2 runs, ready 10, blocked 10, longest 10 ended at 30 on 0 behind 2\n"
     "2: 1 runs, ready 0, blocked 0"},
    // Task 2 was left in the gap, or not.
    {"WhatAGapMayHideCountsNowhere", "c1 c2p | c3p x c1p c2p c1p",
     "1: 3 runs, ready 10, blocked 0, longest 10 ended at 50 on 0 behind 2\n"
     "2: 2 runs, ready 0, blocked 0\n3: 1 runs, ready 0, blocked 0"},
    {"SessionsAreApart", "c1 c2p end reset hello c1 c2p c1p",
     "1: 1 runs, ready 0, blocked 0\n2: 1 runs, ready 0, blocked 0\n"
     "again 1: 2 runs, ready 10, blocked 0, longest 10 ended at 1000030 on 0 behind 2\n"
     "again 2: 1 runs, ready 0, blocked 0"},
};
INSTANTIATE_TEST_SUITE_P(, Waits, testing::ValuesIn(courses), name_of_course);

TEST_F(SchedulingTest, APartBeginsWhileATaskRuns) {
    play("c1 c2p c1p c2p end");
    Profile shown;
    read_part(target, symbols_of(target, {}), of_time(12), shown);  // the recording begins at 10
    // Task 1 began to wait before the part.
    EXPECT_EQ(waits(shown),
              "1: 1 runs, ready 0, blocked 0\n"
              "2: 1 runs, ready 10, blocked 0, longest 10 ended at 30 on 0 behind 1");
}

// More events than wait for each other.
TEST_F(SchedulingTest, ManySwitches) {
    constexpr std::uint64_t rounds = 100'000;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (const std::uint32_t context : {1, 2}) {
            target.argument(Extended::context, context);
            target.left(protocol::Left::preempted);
        }
    }
    report();
    for (const std::uint32_t context : {1, 2}) {
        const TaskWaits& waits = profile.scheduling().tasks().at({0, context, 0});
        EXPECT_EQ(std::tuple(waits.runs, waits.ready_ticks, waits.blocked_ticks),
                  std::tuple(rounds, 10 * (rounds - 1), 0u));
    }
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
        for (const auto& [number, its_name] : {std::pair(1u, "worker"), {2, "worker"}, {3, "idle"}})
            target.tasks(TaskFacts{.number = number,
                                   .priority = 3,
                                   .stack_bytes = 4096,
                                   .stack_used = 64 * number,
                                   .name = name(its_name)});
        play("o5=mutex c1 w5 c2b c3y r1 c1p c0e c0@1");  // at 10, 20, ...
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
    EXPECT_EQ(
        fmt::format("{} {}: {} ns, {} runs, priority {}, stack {}, ready {}, blocked {}, {}",
                    worker.tasks, worker.name, worker.cpu_ns, worker.runs, worker.priority.value(),
                    worker.stack_used, worker.ready_ns, worker.blocked_ns, worker.behind.value()),
        "2 worker: 40 ns, 3 runs, priority 3, stack 128, ready 10, blocked 20, idle");
    ASSERT_EQ(worker.waited_for.size(), 1u);
    const auto& object = worker.waited_for[0];
    EXPECT_EQ(std::tuple(object.name, object.blocked_ns), std::tuple("mutex", 20u));
    const TaskLine& idle = made_of.tasks[1];
    EXPECT_EQ(std::tuple(idle.name, idle.is_idle), std::tuple("idle", true));
    ASSERT_EQ(made_of.cores.size(), 1u);
    EXPECT_EQ(std::tuple(made_of.cores[0].cpu_ns, made_of.cores[0].idle_ns), std::tuple(60u, 20u));
}

TEST_F(TaskLines, TasksWithoutANameAreOne) {
    play("c7 c8 c0");
    const TaskLine unnamed = named(table().tasks, "(tasks without a name)");
    EXPECT_EQ(std::tuple(unnamed.tasks, unnamed.cpu_ns), std::tuple(2u, 20u));
}

TEST_F(TaskLines, OfEachTask) {
    std::vector<std::string> names;
    for (const TaskLine& line : table(true).tasks) names.push_back(line.name);
    EXPECT_THAT(names, IsSupersetOf({"worker (1)", "worker (2)", "idle (3)"}));
}

}  // namespace nopscope::host::test::scheduling_test
