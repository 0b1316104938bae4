// SPDX-License-Identifier: Apache-2.0
// Tasks that move between cores: which core and call a time belongs to.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::moved_tasks_test {

// The records of the core that the task is on. Words: "<", the task leaves it; "100:>1", after 100
// ticks core 1 runs the task.
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
    } else if (letter == '>') {
        const std::uint8_t from = std::exchange(to.on, static_cast<std::uint8_t>(number));
        to.target.arrive(1, to.on, from, to.after, ticks);
    } else {
        play_word(to.target, letter, number, ticks);
    }
}

class MovedTasks : public StreamReport {
protected:
    MovedTasks() {
        target.cores = 3;
        target.clock = 0;
        target.hello();
        target.argument(Extended::context, 1, 10);  // core 0 runs task 1
    }
    FunctionTimes of(std::uint32_t site) {
        if (made.sessions == 0) report();
        const std::vector<FunctionTimes> times = profile.times();
        for (std::uint32_t number = 0; number < times.size(); ++number) {
            if (profile.functions().offset(number) == site * 8 && times[number].calls != 0)
                return times[number];
        }
        return {};
    }
    void expect(std::uint32_t site, std::uint64_t calls, std::uint64_t total, std::uint64_t self,
                std::uint64_t incomplete = 0) {
        const FunctionTimes times = of(site);
        EXPECT_EQ(std::tuple(times.calls, times.total_ticks, times.self_ticks, times.incomplete),
                  std::tuple(calls, total, self, incomplete))
            << site;
        EXPECT_EQ(times.open + times.unwound + times.lost, 0u) << site;
        EXPECT_EQ(profile.decoder().orphan_returns, 0u);
    }
    // "core/context ran self tracer" of each that ran.
    std::vector<std::string> contexts() {
        std::vector<std::string> list;
        for (const ContextTimes& one : profile.contexts()) {
            list.push_back(fmt::format("{}/{} {} {} {}", one.core, one.context, one.ran_ticks,
                                       one.self_ticks, one.tracer_ticks));
        }
        return list;
    }
    const std::vector<std::string>& told() {
        target.finish();
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

class ManyTasks : public MovedTasks {
protected:
    static constexpr std::uint64_t tasks = 3000;
    // Each begins a call, and when all have, each ends its own.
    ManyTasks() {
        std::vector<std::uint64_t> open;
        for (std::uint32_t task = 1; task <= tasks; ++task) {
            target.argument(Extended::context, task, 1);
            open.push_back(target.entry(1, 1));
        }
        for (std::uint32_t task = 1; task <= tasks; ++task) {
            target.argument(Extended::context, task, 1);
            target.ret(open[task - 1], 5);
        }
    }
};

TEST_F(ManyTasks, AreToldApartInReports) {
    expect(1, tasks, 4 * tasks * tasks + 2 * tasks, 6 * tasks);
    EXPECT_EQ(contexts().size(), tasks);
}

TEST_F(ManyTasks, AreToldApartInEvents) {
    EXPECT_EQ(told().size(), 4 * tasks) << "the call, and the time away in it: begin and end";
    EXPECT_EQ(orphan_returns, 0u);
}

TEST_F(MovedTasks, ThereAndBackAndOn) {
    play("1( < 100:>1 3:2( < 100:>0 4:3( 6:) < 100:>2 1:) 2:)");
    expect(3, 1, 6, 6);
    expect(2, 1, 10 + 100 + 10 + 10 + 100 + 1, 10 + 4 + 10 + 1);
    expect(1, 1, 10 + 100 + 3 + 231 + 2, 10 + 3 + 2);
    EXPECT_TRUE(made.integrity.clean);
    EXPECT_THAT(contexts(), ElementsAre("0/0 213 0 0", "0/1 40 30 0", "1/1 13 13 0", "2/1 3 3 0"));
}

TEST_F(MovedTasks, AMoveWhileTheTaskWorksForTheTracer) {
    play("1( 3:t( 50:< 100:>1 70:t) 5:)");
    expect(1, 1, 3 + 100 + 5, 3 + 5);
    EXPECT_EQ(profile.tracer_ticks(), 120u);
    EXPECT_THAT(contexts(), ElementsAre("0/1 63 0 50", "1/1 75 8 70"));
}

// An interrupt came on top of that work and switched tasks.
TEST_F(MovedTasks, AMoveOnTopOfTheTracersWork) {
    play("1( 3:t( 20:2( 8:< 100:>1 4:) 70:t) 5:)");
    expect(2, 1, 8 + 100 + 4, 8 + 4);
    expect(1, 1, 3 + 112 + 5, 3 + 5);
    EXPECT_EQ(profile.tracer_ticks(), 90u);
}

TEST_F(MovedTasks, ACallToldWholeHasItsTimeOnBothCores) {
    play("1(");
    target.with_data(Extended::duration, 1, {3, 4});
    play("< 100:>1");
    target.with_data(Extended::duration, 1, {2, 10 + 100 + 5}, 1);
    play("7:)");
    expect(3, 1, 4, 4);
    expect(2, 1, 115, 15);
    expect(1, 1, 10 + 10 + 100 + 10 + 7, 10 - 4 + 5 + 7);
}

// The return's index on core 0 is above all of core 1: the search must not end at an older one.
TEST_F(MovedTasks, ReturnsAreFoundWhateverTheirIndices) {
    target.set_next_index(1000, 1);
    play("1(");
    for (int n = 0; n < 20; ++n) play("2()");
    play("3( < 100:>1 4( 0:m0 5( 5:)3 5:)1");  // the returns of 4 and 5 are missing
    report();
    EXPECT_EQ(std::tuple(of(3).timed, of(1).timed), std::tuple(1u, 1u));
    EXPECT_EQ(of(4).unwound + of(5).unwound, 2u);
    EXPECT_EQ(profile.decoder().orphan_returns, 0u);
}

// The frame with the `moved` record is lost: the return shows where the call is open.
TEST_F(MovedTasks, AReturnFindsItsCallOnTheOldCore) {
    play("1( 2( < | 100:>1 x # 8:3( 5:) 5:) 1:3( 5:) 7:)");
    const std::uint64_t total = 10 + 100 + 8 + 5 + 5;
    expect(2, 1, total, 10, 1);
    expect(1, 1, 10 + total + 6 + 7, 10 + 1 + 7, 1);
    EXPECT_EQ(of(3).incomplete, 0u);
}

// A gap before the task left: its calls may have ended there.
TEST_F(MovedTasks, AGapGoesAlong) {
    play("1( | 30:9( x # 2( < 100:>1 8:3( 5:) 7:)1");
    report();
    EXPECT_EQ(of(1).incomplete, 1u);
    EXPECT_EQ(of(1).total_ticks, 30u + 10 + 10 + 100 + 8 + 5 + 7);
    EXPECT_EQ(of(2).unwound, 1u);
    EXPECT_EQ(profile.decoder().orphan_returns, 0u);
}

TEST_F(MovedTasks, TheSessionEndsWhileTheNewCoreWaits) {
    play("1( |");
    task.after = target.next_index() + 50;
    play("100:>1 7:)");
    expect(1, 1, 107, 7);  // when it left core 0 is not known
    EXPECT_EQ(of(1).timed, 1u);
}

TEST_F(MovedTasks, AfterZeroItsCallsAreOpenOnce) {
    play("1( < |");
    profile.feed(target.bytes);
    target.bytes.clear();
    profile.zero();
    target.clock += 1000;
    target.entry(5);  // core 0 goes on first
    target.flush();
    target.clock -= 1015;
    play("5:>1");  // before the sums begin
    target.clock += 2000;
    play("7:)");
    report();
    EXPECT_EQ(of(1).calls, 0u);
    std::uint64_t cut = 0, open = 0;
    for (const FunctionTimes& times : profile.times()) {
        cut += times.cut;
        open += times.open;
    }
    EXPECT_EQ(cut, 1u);
    EXPECT_EQ(open, 1u);  // of f5
    EXPECT_EQ(profile.decoder().orphan_returns, 0u);
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
    task.after = target.next_index();
    play("100:>1 7:)");
    target.flush(1);
    target.argument(Extended::context, 0, 10);
    EXPECT_THAT(told(), ElementsAre("1 +f1 20", "1 +(other context) 20", "1 -(other context) 120",
                                    "1 -f1 127"));
}

TEST_F(MovedTasks, WhatALostMoveLeftOpenEndsInTheGap) {
    play("1( < | 100:>1 x # 8:3( 5:) 5:)");
    (void)told();
    EXPECT_EQ(orphan_returns, 1u);
    EXPECT_THAT(checker.told, Contains("1 -f1 30 gap"));
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

    // By site: calls, total, self, timed, sum of times, corrected sum, min, max.
    auto functions() const {
        std::map<std::uint32_t, std::vector<std::uint64_t>> all;
        const auto times = profile.times();
        for (std::uint32_t n = 0; n < times.size(); ++n) {
            const FunctionTimes& of = times[n];
            all[profile.functions().offset(n)] = {
                of.calls,     of.total_ticks, of.self_ticks,
                of.timed,     of.timed_ticks, static_cast<std::uint64_t>(of.corrected_sum),
                of.min_ticks, of.max_ticks,   of.open,
                of.unwound};
        }
        return all;
    }
    // By path: calls, total, self, and counted events.
    auto paths() const {
        std::map<std::string, std::vector<std::uint64_t>> all;
        const auto& nodes = profile.tree().nodes();
        std::vector<std::string> names(nodes.size());
        for (std::uint32_t n = 3; n < nodes.size(); ++n) {
            names[n] = names[nodes[n].parent] +
                       fmt::format(">{}", profile.functions().offset(nodes[n].function) / 8);
            std::vector<std::uint64_t> sums{nodes[n].calls, nodes[n].total_ticks,
                                            nodes[n].self_ticks, nodes[n].beside};
            for (const auto& [number, by_node] : profile.call_events().by_number()) {
                const EventSums of = n < by_node.size() ? by_node[n] : EventSums{};
                sums.insert(sums.end(), {of.calls, of.total, of.self});
            }
            all[names[n]] = sums;
        }
        return all;
    }
    // Of the task on all cores: how long it ran, its self time, the tracer's.
    auto context() const {
        std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> sum;
        for (const ContextTimes& one : profile.contexts()) {
            if (one.context != 1) continue;
            std::get<0>(sum) += one.ran_ticks;
            std::get<1>(sum) += one.self_ticks;
            std::get<2>(sum) += one.tracer_ticks;
        }
        return sum;
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

TEST(WanderingTask, HasTheSumsOfOneThatStays) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Wanderer stays(seed, false), moves(seed, true);
        ASSERT_EQ(stays.target.clock, moves.target.clock);
        EXPECT_EQ(stays.functions(), moves.functions()) << seed;
        const auto expected = stays.paths(), paths = moves.paths();
        EXPECT_EQ(expected.size(), paths.size()) << seed;
        for (const auto& [path, sums] : expected) {
            const auto found = paths.find(path);
            ASSERT_NE(found, paths.end()) << seed << " " << path;
            EXPECT_EQ(found->second, sums) << seed << " " << path;
        }
        EXPECT_EQ(stays.context(), moves.context()) << seed;
        EXPECT_EQ(moves.profile.decoder().orphan_returns, 0u) << seed;
        if (testing::Test::HasFailure()) return;
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

TEST(WanderingTask, StaysBalanced) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Wanderer moves(seed, true);
        BalancedChecker checker;
        checker.quiet = true;
        BalancedStream stream(
            checker, [] { return nullptr; }, "x");
        read_line(moves.target, stream);
        checker.finish();
        ASSERT_THAT(checker.wrong, IsEmpty()) << seed;
        EXPECT_EQ(stream.orphan_returns(), 0u) << seed;
    }
}

}  // namespace nopscope::host::test::moved_tasks_test
