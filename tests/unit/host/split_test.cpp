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
                       row.cpu_ns,          row.corrected_total_ns, row.corrected_self_ns,
                       row.corrected_cpu_ns};
        Row& sums = rows[row.name];
        std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
    }
    return rows;
}

class SplitReports : public testing::TestWithParam<unsigned> {
protected:
    Report whole() { return report_of({}, SplitBy::nothing); }
    Report report_of(const Part& part, SplitBy by, bool on_cpu = false) {
        Profile profile;
        profile.split_by(by, {});
        if (on_cpu) profile.time_on_cpu();
        const auto named = known(trace.symbols);
        profile.know_code(code_of_calls(named));
        if (part.whole()) {
            read_line(trace.target, profile);
        } else {
            PartStream stream(profile, part, named, "trace");
            read_line(trace.target, stream);
        }
        tree = path_tree({make_report(profile, {}, &trace.symbols), profile, true});
        return make_report(profile, {}, &trace.symbols);
    }

    RandomTasks trace{GetParam() / 2, GetParam() % 2 != 0};
    PathTree tree;
};

TEST_P(SplitReports, AddUpToTheWhole) {
    const Report all = whole();
    for (const SplitBy by : {SplitBy::task, SplitBy::core}) {
        const Report split = report_of({}, by);
        EXPECT_EQ(rows_of(split), rows_of(all));
        EXPECT_EQ(split.below_zero_ns, all.below_zero_ns);
        EXPECT_GT(split.groups.size(), 1u);
    }
}

TEST_P(SplitReports, ATasksRowsAreThoseOfItsPart) {
    const Report split = report_of({}, SplitBy::task);
    for (const char* const number : {"1", "2"}) {
        Part part;
        part.task = number;
        EXPECT_EQ(rows_of(split, std::string("context ") + number),
                  rows_of(report_of(part, SplitBy::nothing)));
    }
}

// Each task is a call tree of its own. Its time is that of the tasks' outermost calls.
TEST_P(SplitReports, TreesAddUpToTheWhole) {
    (void)whole();
    const auto sum_of = [](const PathTree& of, bool is_split) {
        std::uint64_t total = 0, self = 0, roots = 0;
        for (std::size_t i = 1; i < of.nodes.size(); ++i) {
            self += of.nodes[i].self_ns;
            const bool is_outermost =
                is_split ? of.nodes[i].parent != 0 && of.nodes[of.nodes[i].parent].parent == 0
                         : of.nodes[i].parent == 0;
            if (is_outermost) total += of.nodes[i].total_ns;
            if (of.nodes[i].parent == 0) roots += of.nodes[i].total_ns;
        }
        EXPECT_EQ(total, roots);
        return std::pair(total, self);
    };
    const auto all = sum_of(tree, false);
    (void)report_of({}, SplitBy::task);
    EXPECT_EQ(sum_of(tree, true), all);
    (void)report_of({}, SplitBy::core);
    EXPECT_EQ(sum_of(tree, true), all);
}

TEST_P(SplitReports, APartIsSplitToo) {
    Part part;
    part.time = {TimePoint{.ns = 500}, TimePoint{.ns = 2500}};
    const Rows all = rows_of(report_of(part, SplitBy::nothing));
    EXPECT_EQ(rows_of(report_of(part, SplitBy::task)), all);
    EXPECT_EQ(rows_of(report_of(part, SplitBy::core)), all);
}

// The calls of a balanced stream, with the time in which their task ran.
class CpuTimes final : public EventSink {
public:
    // Of the calls that returned their number, sum, least and most; and the sum of all calls of the
    // function that are the outermost ones on their track.
    using Times = std::array<std::uint64_t, 5>;

    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names_[number] = place.name;
    }
    void on_track(const Track& track) override { open_.resize(track.number + 1); }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        open_[track.number].push_back({function, now, 0});
    }
    void leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) override {
        auto& calls = open_[track.number];
        const Open call = calls.back();
        calls.pop_back();
        const bool is_own = function == away_function || function == tracer_function;
        const std::uint64_t beside = is_own ? now - call.from : call.beside;
        if (!calls.empty()) calls.back().beside += beside;
        if (is_own) return;
        auto& [count, sum, least, most, total] =
            times.try_emplace(names_[function], Times{0, 0, ~std::uint64_t{0}, 0, 0}).first->second;
        const std::uint64_t ran = now - call.from - beside;
        const auto is_same = [&](const Open& outer) { return outer.function == function; };
        if (std::none_of(calls.begin(), calls.end(), is_same)) total += ran;
        if (how != Left::returned) return;
        ++count;
        sum += ran;
        least = std::min(least, ran);
        most = std::max(most, ran);
    }
    void finish() override {}

    std::map<std::string, Times> times;

private:
    struct Open {
        std::uint32_t function;
        Nanoseconds from;
        Nanoseconds beside;
    };
    std::map<std::uint32_t, std::string> names_;
    std::vector<std::vector<Open>> open_;
};

TEST_P(SplitReports, TimesOnTheCpuAreThoseOfTheEvents) {
    CpuTimes events;
    BalancedStream stream(events, known(trace.symbols), "trace", TimeAxis::wall);
    read_line(trace.target, stream);
    Profile profile;
    profile.time_on_cpu();
    read_line(trace.target, profile);
    const std::vector<FunctionTimes> times = profile.times();
    const Report report = make_report(profile, {}, &trace.symbols);
    ASSERT_TRUE(report.on_cpu);
    std::map<std::string, CpuTimes::Times> found;
    for (std::uint32_t number = 1; number < times.size(); ++number) {
        const FunctionRow& row = report.by_number[number];
        found[row.name] = {times[number].timed, times[number].timed_ticks, times[number].min_ticks,
                           times[number].max_ticks, row.cpu_ns};
        EXPECT_EQ(row.total_ns, row.cpu_ns);
    }
    EXPECT_EQ(found, events.times);
}

TEST_P(SplitReports, TotalsHaveTheTimesOnTheCpuBesideThem) {
    const Report on_cpu = report_of({}, SplitBy::task, true);
    Rows all = rows_of(whole());
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
    void run(std::uint32_t context) {
        target.argument(Extended::context, context, 10);
        target.ret(target.entry(1, 10), 10);
    }
    std::map<std::string, std::uint64_t> calls_by_task() {
        target.finish();
        NamesOfTasks names;
        read_line(target, names);
        Profile profile;
        profile.split_by(SplitBy::task, names.tasks());
        read_line(target, profile);
        std::map<std::string, std::uint64_t> calls;
        const Report report = make_report(profile, {}, nullptr);
        for (const FunctionRow& row : report.functions)
            calls[report.groups[row.group]] += row.calls;
        return calls;
    }
};

TEST_F(NamedGroups, OfOneSession) {
    target.hello();
    for (const std::uint32_t context : {1u, 2u, 3u, 4u, 0u, 1u}) run(context);
    target.tasks(facts(1, "worker"), facts(2, "worker"), facts(3, "idle"));
    EXPECT_EQ(calls_by_task(), (std::map<std::string, std::uint64_t>{
                                   {"worker", 3}, {"idle", 1}, {"context 4", 1}, {"(core 0)", 1}}));
}

TEST_F(NamedGroups, OfTwoSessions) {
    target.hello();
    for (const std::uint32_t context : {1u, 2u}) run(context);
    target.tasks(facts(1, "first"), facts(2, "both"));
    target.reset();
    target.hello();
    for (const std::uint32_t context : {1u, 2u, 1u}) run(context);
    target.tasks(facts(2, "second"), facts(1, "both"));
    EXPECT_EQ(calls_by_task(),
              (std::map<std::string, std::uint64_t>{{"first", 1}, {"both", 3}, {"second", 1}}));
}

TEST_F(NamedGroups, MoreThanTheMost) {
    target.hello();
    constexpr std::uint32_t tasks = CallTree::max_groups + 100;
    for (std::uint32_t context = 1; context <= tasks; ++context) run(context);
    const auto calls = calls_by_task();
    // One group is that of no task, and one the core's own, which called nothing.
    EXPECT_EQ(calls.size(), CallTree::max_groups - 2);
    EXPECT_EQ(calls.at(PathGroups::others_name), tasks - (CallTree::max_groups - 3));
}

}  // namespace nopscope::host::test::split_test
