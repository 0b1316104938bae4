// SPDX-License-Identifier: Apache-2.0
// Reports by task and by core add up to those of all. Times on the CPU are those of the events.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::split_test {

// Calls, total, self and time on the CPU; then the corrected times.
using Row = std::array<std::uint64_t, 7>;
using Rows = std::map<std::string, Row>;
Rows rows_of(const Report& report, const std::string& group = "") {
    Rows rows;
    for (const FunctionRow& row : report.functions) {
        if (!group.empty() && report.groups[row.group] != group) continue;
        const Row more{row.calls,           row.total_ns,           row.self_ns,
                       row.cpu_ns,          row.corrected.total_ns, row.corrected.self_ns,
                       row.corrected.cpu_ns};
        Row& sums = rows[row.name];
        std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
    }
    return rows;
}

// The outermost calls' total, and all self times.
std::pair<std::uint64_t, std::uint64_t> sums_of(const PathTree& tree, bool is_split) {
    std::uint64_t total = 0, self = 0, roots = 0;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        const bool is_root = node.parent == 0;
        self += node.self_ns;
        if (is_root) roots += node.total_ns;
        if (is_split ? !is_root && tree.nodes[node.parent].parent == 0 : is_root)
            total += node.total_ns;
    }
    EXPECT_EQ(total, roots);
    return {total, self};
}

class SplitReports : public testing::TestWithParam<unsigned> {
protected:
    Report report_of(const Part& part, SplitBy by, bool on_cpu = false) {
        Profile profile;
        profile.split_by(by, {});
        if (on_cpu) profile.time_on_cpu();
        profile.know_code(code_of_calls(known(trace.symbols)));
        read_part(trace.target, trace.symbols, part, profile);
        tree = path_tree({or_throw(make_report(profile, {}, &trace.symbols)), profile, true});
        return or_throw(make_report(profile, {}, &trace.symbols));
    }

    RandomTasks trace{GetParam() / 2, GetParam() % 2 != 0};
    PathTree tree;
};

// Each task is a call tree of its own. Its time is that of the tasks' outermost calls.
TEST_P(SplitReports, AddUpToTheWhole) {
    for (const Part& part : {Part{}, of_time(500, 2500)}) {
        const Report all = report_of(part, SplitBy::nothing);
        const auto sums = sums_of(tree, false);
        for (const SplitBy by : {SplitBy::task, SplitBy::core}) {
            const Report split = report_of(part, by);
            EXPECT_EQ(rows_of(split), rows_of(all));
            EXPECT_EQ(split.below_zero_ns, all.below_zero_ns);
            EXPECT_GT(split.groups.size(), 1u);
            EXPECT_EQ(sums_of(tree, true), sums);
        }
    }
}

TEST_P(SplitReports, ATasksRowsAreThoseOfItsPart) {
    const Report split = report_of({}, SplitBy::task);
    for (const std::string number : {"1", "2"})
        EXPECT_EQ(rows_of(split, "context " + number),
                  rows_of(report_of(of_task(number), SplitBy::nothing)));
}

// The calls of a balanced stream.
struct Calls final : EventSink {
    // Of the times on the CPU: number, sum, least and most of the calls that returned; and the sum
    // of the function's outermost calls.
    using Times = std::array<std::uint64_t, 5>;

    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names[number] = place.name;
    }
    void leave(const Track&, const EndedCall& call) override { calls[call.number] = call; }
    void finish() override {}
    bool is_inside_its_own(const EndedCall& call) const {
        std::uint64_t outer = call.parent;
        while (outer != 0 && calls.at(outer).function != call.function)
            outer = calls.at(outer).parent;
        return outer != 0;
    }
    std::map<std::string, Times> times() const {
        std::map<std::string, Times> all;
        for (const auto& [number, call] : calls) {
            if (call.function >= first_own_function) continue;
            const auto of =
                all.try_emplace(names.at(call.function), Times{0, 0, ~0ull, 0, 0}).first;
            auto& [count, sum, least, most, total] = of->second;
            if (!is_inside_its_own(call)) total += call.cpu;
            if (call.how != Left::returned) continue;
            ++count;
            sum += call.cpu;
            least = std::min(least, call.cpu);
            most = std::max(most, call.cpu);
        }
        return all;
    }

    std::map<std::uint32_t, std::string> names;
    std::map<std::uint64_t, EndedCall> calls;  // by number
};

TEST_P(SplitReports, TimesOnTheCpuAreThoseOfTheEvents) {
    Calls events;
    Events stream(events, known(trace.symbols), "trace", TimeAxis::wall);
    read_line(trace.target, stream);
    Profile profile;
    profile.time_on_cpu();
    read_line(trace.target, profile);
    const std::vector<FunctionTimes> times = profile.times();
    const Report report = or_throw(make_report(profile, {}, &trace.symbols));
    ASSERT_TRUE(report.on_cpu);
    std::map<std::string, Calls::Times> found;
    for (std::uint32_t number = 1; number < times.size(); ++number) {
        const FunctionRow& row = report.by_number[number];
        found[row.name] = {times[number].timed, times[number].timed_ticks, times[number].min_ticks,
                           times[number].max_ticks, row.cpu_ns};
        EXPECT_EQ(row.total_ns, row.cpu_ns);
    }
    EXPECT_EQ(found, events.times());
}

TEST_P(SplitReports, TotalsHaveTheTimesOnTheCpuBesideThem) {
    const Report on_cpu = report_of({}, SplitBy::task, true);
    Rows all = rows_of(report_of({}, SplitBy::nothing));
    std::uint64_t away = 0;
    for (const auto& [name, row] : rows_of(on_cpu)) {
        const std::uint64_t total = all[name][1], self = all[name][2], cpu = all[name][3];
        EXPECT_THAT(std::vector(row.begin() + 1, row.begin() + 4), ElementsAre(cpu, self, cpu))
            << name;
        EXPECT_LE(cpu, total) << name;
        away += total - cpu;
    }
    EXPECT_GT(away, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitReports, testing::Range(0u, 60u));

// Tasks of one name are one, also in several sessions, where numbers stand for other tasks.
class NamedGroups : public StreamReport {
protected:
    // Each task of a name called function 1 so often.
    std::map<std::string, std::uint64_t> calls_by_task(const std::string& records) {
        play(records + " end");
        NamesOfTasks names;
        read_line(target, names);
        Profile profile;
        profile.split_by(SplitBy::task, names.tasks());
        read_line(target, profile);
        std::map<std::string, std::uint64_t> calls;
        const Report report = or_throw(make_report(profile, {}, nullptr));
        for (const FunctionRow& row : report.functions)
            calls[report.groups[row.group]] += row.calls;
        return calls;
    }
};

TEST_F(NamedGroups, OfOneSession) {
    EXPECT_EQ(calls_by_task("hello c1 1() c2 1() c3 1() c4 1() c0 1() c1 1() n1=worker n2=worker "
                            "n3=idle"),
              (std::map<std::string, std::uint64_t>{
                  {"worker", 3}, {"idle", 1}, {"context 4", 1}, {"(core 0)", 1}}));
}

TEST_F(NamedGroups, OfTwoSessions) {
    EXPECT_EQ(calls_by_task("hello c1 1() c2 1() n1=first n2=both reset hello c1 1() c2 1() c1 1() "
                            "n2=second n1=both"),
              (std::map<std::string, std::uint64_t>{{"first", 1}, {"both", 3}, {"second", 1}}));
}

TEST_F(NamedGroups, MoreThanTheMost) {
    constexpr std::uint32_t tasks = CallTree::max_groups + 100;
    std::string records = "hello";
    for (std::uint32_t task = 1; task <= tasks; ++task) records += fmt::format(" c{} 1()", task);
    const auto calls = calls_by_task(records);
    // One group is that of no task, and one the core's own, which called nothing.
    EXPECT_EQ(calls.size(), CallTree::max_groups - 2);
    EXPECT_EQ(calls.at(PathGroups::others_name), tasks - (CallTree::max_groups - 3));
}

}  // namespace nopscope::host::test::split_test
