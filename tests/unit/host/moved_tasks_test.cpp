// SPDX-License-Identifier: Apache-2.0
// Tasks that move between cores: which core and call a time belongs to.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::moved_tasks_test {

// Tells the checker of balanced events. Returns how many returns had no call.
std::uint64_t orphans_of(const TargetStream& target, const Symbols* symbols,
                         BalancedChecker& checker) {
    Events stream(
        checker, [=] { return symbols; }, "x.nsc");
    read_line(target, stream);
    checker.finish();
    EXPECT_THAT(checker.wrong, IsEmpty());
    return stream.decoder().orphan_returns;
}

class MovedTasks : public PlayedReport {
protected:
    MovedTasks() {
        target.cores = 3;
        target.clock = 0;
        play("hello c1");  // core 0 runs task 1
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
        orphan_returns = orphans_of(target, &symbols, checker);
        return checker.told;
    }

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
    play("1( duration1=3,4 < 100:>1 duration1=2,115 7:)");
    EXPECT_EQ(sums(), "f1 1 137 18, f3 1 4 4, f2 1 115 15");
}

TEST_F(MovedTasks, AfterZeroItsCallsAreOpenOnce) {
    play("1( < |");
    profile.feed(std::exchange(target.bytes, {}));
    profile.zero();
    // Core 0 goes on first. Core 1 runs the task before the sums begin.
    play("1010:5( | -1010:>1 2007:)1");
    EXPECT_EQ(sums(), "f1 0 2006 2006 cut 1, f5 1 0 0 open 1");
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
    play("1( | stats stats 0:~ 100:>1 7:) | c0@0");
    EXPECT_THAT(told(), ElementsAre("1 +f1 20", "1 +(other context) 20", "1 -(other context) 120",
                                    "1 -f1 127"));
}

TEST_F(MovedTasks, WhatALostMoveLeftOpenEndsInTheGap) {
    play("1( < | 100:>1 x # 8:3( 5:) 5:)");
    EXPECT_THAT(told(), Contains("1 -f1 30 gap"));
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

    // Of each function and path, all that is counted; and of the task on all cores, how long it
    // ran, its self time and the tracer's.
    std::vector<std::vector<std::uint64_t>> sums() const {
        std::vector<std::vector<std::uint64_t>> all{{0, 0, 0}};
        for (const ContextTimes& one : profile.contexts()) {
            if (one.context != 1) continue;
            all[0][0] += one.ran_ticks;
            all[0][1] += one.self_ticks;
            all[0][2] += one.tracer_ticks;
        }
        for (const FunctionTimes& of : profile.times())
            all.push_back({of.calls, of.total_ticks, of.self_ticks, of.timed, of.timed_ticks,
                           static_cast<std::uint64_t>(of.corrected_sum), of.min_ticks, of.max_ticks,
                           of.open, of.unwound});
        const auto& nodes = profile.tree().nodes();
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const CallTree::Node& of = nodes[n];
            all.push_back({profile.functions().offset(of.function), of.parent, of.calls,
                           of.total_ticks, of.self_ticks, of.beside});
            for (const auto& [number, by_node] : profile.call_events().by_number()) {
                const EventSums events = n < by_node.size() ? by_node[n] : EventSums{};
                all.back().insert(all.back().end(), {events.calls, events.total, events.self});
            }
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
        ASSERT_EQ(orphans_of(moves.target, nullptr, checker), 0u);
    }
}

// The second reader also reads this recording.
TEST(WanderingTask, Golden) {
    const Wanderer moves(3, true, true);
    const Bytes& bytes = moves.target.bytes;
    expect_golden("moves.bin", std::string(bytes.begin(), bytes.end()));
    Report report = or_throw(make_report(moves.profile, moves.profile.counters(), nullptr));
    sort_rows(report.functions, SortKey::self, 0);
    expect_golden("moves.json", json_report(report));
}

}  // namespace nopscope::host::test::moved_tasks_test
