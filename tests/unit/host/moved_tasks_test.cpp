// SPDX-License-Identifier: Apache-2.0
// Tasks that move between cores: which core and call a time belongs to.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::moved_tasks_test {

// The records of the core that the task is on. Words: "<", the task leaves it; "50:~", it is said
// to leave with the record after the next 50; "100:>1", after 100 ticks core 1 runs the task.
struct Traveller {
    std::uint64_t entry(std::uint32_t site, std::uint64_t ticks) {
        return target.entry(site, ticks, on);
    }
    std::uint64_t call(std::uint32_t site, std::uint64_t ticks) {
        return target.call(site, ticks, on);
    }
    std::uint64_t argument(Extended what, std::uint32_t argument, std::uint64_t ticks) {
        return target.argument(what, argument, ticks, on);
    }
    std::uint64_t ret(std::uint64_t entry, std::uint64_t ticks, unsigned, bool unwound) {
        return target.ret(entry, ticks, on, unwound);
    }

    TargetStream& target;
    std::uint8_t on = 0;
    std::uint64_t after = 0;  // the index of the record with which it left its last core
};
void play_word(Traveller& to, char letter, std::uint64_t number, std::uint64_t ticks) {
    if (letter == '#') return to.target.skip_sequence(Stream::trace, to.on);
    if (letter == '<') {
        to.after = to.target.leave(to.on, ticks);
    } else if (letter == '~') {
        to.after = to.target.next_index() + ticks;
    } else if (letter == '>') {
        const std::uint8_t from = std::exchange(to.on, static_cast<std::uint8_t>(number));
        to.target.arrive(1, to.on, from, to.after, ticks);
    } else {
        play_word(to.target, letter, number, ticks);
    }
}

class MovedTasks : public PlayedReport {
protected:
    MovedTasks() {
        target.cores = 3;
        target.clock = 0;
        target.hello();
        target.argument(Extended::context, 1, 10);  // core 0 runs task 1
    }
    // Each function's calls and times. No return is without its call, and no gap has ended a call.
    std::string sums() {
        const std::string text = rows();
        EXPECT_EQ(profile.decoder().orphan_returns, 0u);
        for (const FunctionRow& row : made.functions) EXPECT_EQ(row.lost, 0u) << row.name;
        return text;
    }
    // "core/context ran self tracer" of each that ran.
    std::string contexts() {
        std::vector<std::string> list;
        for (const ContextTimes& one : profile.contexts()) {
            list.push_back(fmt::format("{}/{} {} {} {}", one.core, one.context, one.ran_ticks,
                                       one.self_ticks, one.tracer_ticks));
        }
        return joined(list);
    }
    const std::vector<std::string>& told() {
        if (made.sessions == 0) target.finish();
        BalancedStream stream(checker, known(symbols), "x.nsc");
        read_line(target, stream);
        checker.finish();
        orphan_returns = stream.orphan_returns();
        EXPECT_THAT(checker.wrong, IsEmpty());
        return checker.told;
    }

    Traveller task{target};
    Play<Traveller> play{task};
    Symbols symbols = symbols_of(target, {"f1", "f2", "f3", "f4", "f5"});
    BalancedChecker checker;
    std::uint64_t orphan_returns = 0;
};

// Each begins a call, and when all have, each ends its own.
TEST_F(MovedTasks, ManyAreToldApart) {
    constexpr std::uint64_t tasks = 3000;
    std::vector<std::uint64_t> open;
    for (std::uint32_t one = 1; one <= tasks; ++one) {
        target.argument(Extended::context, one, 1);
        open.push_back(target.entry(1, 1));
    }
    for (std::uint32_t one = 1; one <= tasks; ++one) {
        target.argument(Extended::context, one, 1);
        target.ret(open[one - 1], 5);
    }
    EXPECT_EQ(sums(), fmt::format("f1 {} {} {}", tasks, 4 * tasks * tasks + 2 * tasks, 6 * tasks));
    EXPECT_EQ(profile.contexts().size(), tasks);
    EXPECT_EQ(told().size(), 4 * tasks) << "the call, and the time away in it: begin and end";
    EXPECT_EQ(orphan_returns, 0u);
}

struct Course {
    const char *what, *records, *sums, *contexts;
};
class MovedCalls : public MovedTasks, public testing::WithParamInterface<Course> {};

TEST_P(MovedCalls, HaveTheirTimes) {
    const Course& course = GetParam();
    target.set_next_index(1000, 1);
    play(course.records);
    EXPECT_EQ(sums(), course.sums) << course.what;
    EXPECT_EQ(contexts(), course.contexts) << course.what;
    for (const FunctionRow& row : made.functions)
        EXPECT_EQ(row.timed + row.incomplete, row.calls) << row.name;
}

INSTANTIATE_TEST_SUITE_P(
    All, MovedCalls,
    testing::Values(
        Course{"there and back and on", "1( < 100:>1 3:2( < 100:>0 4:3( 6:) < 100:>2 1:) 2:)",
               "f1 1 346 15, f2 1 231 25, f3 1 6 6",
               "0/0 213 0 0, 0/1 40 30 0, 1/1 13 13 0, 2/1 3 3 0"},
        Course{"while the task works for the tracer", "1( 3:t( 50:< 100:>1 70:t) 5:)", "f1 1 108 8",
               "0/1 63 0 50, 1/1 75 8 70"},
        Course{"an interrupt came on top of that work and switched tasks",
               "1( 3:t( 20:2( 8:< 100:>1 4:) 70:t) 5:)", "f1 1 120 8, f2 1 112 12",
               "0/1 41 0 20, 1/1 79 20 70"},
        Course{"the frame with the `moved` record is lost: the return shows where the call is open",
               "1( 2( < | 100:>1 x # 8:3( 5:) 5:) 1:3( 5:) 7:)",
               "f1 1 151 18 incomplete 1, f2 1 128 10 incomplete 1, f3 2 10 10",
               "0/1 30 20 0, 1/1 23 18 0"},
        Course{"a gap before the task left: its calls may have ended there",
               "1( | 30:9( x # 2( < 100:>1 8:3( 5:) 7:)1",
               "f1 1 170 0 incomplete 1, f2 1 130 25 unwound 1, f3 1 5 5",
               "0/1 20 10 0, 1/1 20 20 0"},
        Course{"the session ends while the new core waits: when it left core 0 is not known",
               "1( | 50:~ 100:>1 7:)", "f1 1 107 7", "0/1 10 0 0, 1/1 7 7 0"},
        Course{"the return's index on core 0 is above all of core 1; 4 and 5 do not return",
               "1( 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() 2() "
               "3( < 100:>1 4( 0:m0 5( 5:)3 5:)1",
               "f1 1 550 215, f2 20 200 200, f3 1 135 20, f4 1 15 10 unwound 1, f5 1 5 5 unwound 1",
               "0/1 430 420 0, 1/1 30 30 0"}));

TEST_F(MovedTasks, ACallToldWholeHasItsTimeOnBothCores) {
    play("1(");
    target.with_data(Extended::duration, 1, {3, 4});
    play("< 100:>1");
    target.with_data(Extended::duration, 1, {2, 10 + 100 + 5}, 1);
    play("7:)");
    EXPECT_EQ(sums(), "f1 1 137 18, f3 1 4 4, f2 1 115 15");
}

TEST_F(MovedTasks, AfterZeroItsCallsAreOpenOnce) {
    play("1( < |");
    profile.feed(std::exchange(target.bytes, {}));
    profile.zero();
    target.clock += 1000;
    target.entry(5);  // core 0 goes on first
    target.flush();
    target.clock -= 1015;
    play("5:>1");  // before the sums begin
    target.clock += 2000;
    play("7:)");
    EXPECT_EQ(sums(), "f1 0 2006 2006, f5 1 0 0 open 1");
    EXPECT_EQ(row(made, 1).cut, 1u);
}

TEST_F(MovedTasks, TheTrackGoesAlong) {
    play("1( < 100:>1 2( < 100:>0 5:) 5:)");
    // Track 0 is core 0's main context, 1 the task's, 2 core 1's main context.
    EXPECT_THAT(told(), ElementsAre("1 +f1 20", "1 +(other context) 30", "1 -(other context) 130",
                                    "1 +f2 140", "1 +(other context) 150", "1 -(other context) 250",
                                    "1 -f2 255", "1 -f1 260"));
    EXPECT_EQ(orphan_returns, 0u);
    EXPECT_THAT(checker.switches,
                ElementsAre("10 0 -> 1", "30 1 -> 0", "130 2 -> 1", "150 1 -> 2", "250 0 -> 1"));
}

TEST_F(MovedTasks, ATrackMovesBeforeItsCoreSaysThatItLeft) {
    play("1( |");
    for (int n = 0; n < 2; ++n) target.stats(false);
    play("0:~ 100:>1 7:) |");
    target.argument(Extended::context, 0, 10);
    EXPECT_THAT(told(), ElementsAre("1 +f1 20", "1 +(other context) 20", "1 -(other context) 120",
                                    "1 -f1 127"));
}

TEST_F(MovedTasks, WhatALostMoveLeftOpenEndsInTheGap) {
    play("1( < | 100:>1 x # 8:3( 5:) 5:)");
    EXPECT_THAT(told(), Contains("1 -f1 30 gap"));
    EXPECT_EQ(orphan_returns, 1u);
}

// A task that works, alone, on one core or on three. What it does depends on the seed only.
class Wanderer {
public:
    // `is_simple`: without what the second reader leaves out.
    Wanderer(unsigned seed, bool moves, bool is_simple = false)
        : random_(seed), moves_(moves), is_simple_(is_simple) {
        target.cores = 3;
        target.calibrated = !is_simple;
        target.landing_pad = 100;
        for (protocol::Overhead& of : target.overheads) of = {300, 500};
        target.hello();
        target.argument(Extended::context, 1);
        for (unsigned n = 0; n < 600; ++n) {
            step();
            if (random_() % 20 == 0) target.flush(static_cast<std::uint8_t>(random_() % 3));
        }
        target.finish();
        profile.count_durations();
        profile.read(target.bytes);
    }

    // By site and by path, all that is counted; and of the task on all cores, how long it ran, its
    // self time and the tracer's.
    auto sums() const {
        std::map<std::string, std::vector<std::uint64_t>> all;
        const auto offset = [&](std::uint32_t n) { return profile.functions().offset(n); };
        const auto times = profile.times();
        for (std::uint32_t n = 0; n < times.size(); ++n) {
            const FunctionTimes& of = times[n];
            all[fmt::format("{}", offset(n))] = {
                of.calls,     of.total_ticks, of.self_ticks,
                of.timed,     of.timed_ticks, static_cast<std::uint64_t>(of.corrected_sum),
                of.min_ticks, of.max_ticks,   of.open,
                of.unwound};
        }
        const auto& nodes = profile.tree().nodes();
        std::vector<std::string> names(nodes.size());
        for (std::uint32_t n = 3; n < nodes.size(); ++n) {
            names[n] = fmt::format("{}>{}", names[nodes[n].parent], offset(nodes[n].function));
            auto& path = all[names[n]] = {nodes[n].calls, nodes[n].total_ticks, nodes[n].self_ticks,
                                          nodes[n].beside};
            for (const auto& [number, by_node] : profile.call_events().by_number()) {
                const EventSums of = n < by_node.size() ? by_node[n] : EventSums{};
                path.insert(path.end(), {of.calls, of.total, of.self});
            }
        }
        auto& task = all["task"] = {0, 0, 0};
        for (const ContextTimes& one : profile.contexts()) {
            if (one.context != 1) continue;
            task[0] += one.ran_ticks;
            task[1] += one.self_ticks;
            task[2] += one.tracer_ticks;
        }
        return all;
    }

    TargetStream target;
    LineProfile profile;

private:
    void step() {
        const std::uint64_t ticks = 1 + random_() % 20;
        const unsigned what = random_() % 12;
        if (what == 0) return go(ticks);
        if (what == 1) {
            in_tracer_ = !in_tracer_;
            target.extended(in_tracer_ ? Extended::tracer_begin : Extended::tracer_end, ticks, on_);
            return;
        }
        if (in_tracer_) return;
        if (what == 2 && !is_simple_) {
            const std::uint64_t length = random_() % 10;
            target.with_data(Extended::duration, static_cast<std::uint32_t>(open_.size()),
                             {6, length}, on_);
        } else if (what < 7 && !open_.empty()) {
            target.ret(open_.back(), ticks, on_, random_() % 10 == 0);
            open_.pop_back();
            if (random_() % 3 == 0) {
                target.with_data(Extended::events, protocol::events_argument(0x11),
                                 {random_() % 1000}, on_);
            }
        } else if (open_.size() < 12) {
            open_.push_back(target.entry(1 + random_() % 5, ticks, on_));
        }
    }
    void go(std::uint64_t ticks) {
        const auto to = static_cast<std::uint8_t>(moves_ ? random_() % 3 : random_() % 3 * 0);
        const std::uint64_t away = random_() % 50;
        const std::uint64_t after = target.leave(on_, ticks);
        if (to == on_) {
            target.argument(Extended::context, 1, away, on_);
        } else {
            target.arrive(1, to, std::exchange(on_, to), after, away);
        }
    }

    std::mt19937 random_;
    bool moves_;
    bool is_simple_;
    bool in_tracer_ = false;
    std::uint8_t on_ = 0;
    std::vector<std::uint64_t> open_;  // indices of entries, each on its core
};

TEST(WanderingTask, HasTheSumsOfOneThatStaysAndABalancedTrack) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        const Wanderer stays(seed, false), moves(seed, true);
        ASSERT_EQ(stays.target.clock, moves.target.clock);
        ASSERT_EQ(stays.sums(), moves.sums());
        ASSERT_EQ(moves.profile.decoder().orphan_returns, 0u);
        BalancedChecker checker;
        checker.quiet = true;
        BalancedStream stream(
            checker, [] { return nullptr; }, "x");
        read_line(moves.target, stream);
        checker.finish();
        ASSERT_THAT(checker.wrong, IsEmpty());
        ASSERT_EQ(stream.orphan_returns(), 0u);
    }
}

// The second reader also reads this recording.
TEST(WanderingTask, Golden) {
    const Wanderer moves(3, true, true);
    const Bytes& bytes = moves.target.bytes;
    expect_golden("moves.bin", std::string(bytes.begin(), bytes.end()));
    Report report = make_report(moves.profile, moves.profile.counters(), nullptr);
    sort_rows(report.functions, SortKey::self, 0);
    expect_golden("moves.json", json_report(report));
}

}  // namespace nopscope::host::test::moved_tasks_test
