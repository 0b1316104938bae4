// SPDX-License-Identifier: Apache-2.0
// Parts of a recording: the parts of a partition add up to the whole.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::part_test {

// What can be added up, in ticks: calls, total and self by the function's site offset.
struct Sums {
    std::map<std::uint32_t, std::array<std::uint64_t, 3>> functions;
    std::uint64_t tracer = 0, duration = 0;

    bool operator==(const Sums&) const = default;
    void add(const Profile& profile) {
        const std::vector<FunctionTimes> times = profile.times();
        for (std::uint32_t number = FunctionTable::none + 1; number < times.size(); ++number) {
            if ((times[number].calls | times[number].total_ticks) == 0) continue;
            auto& [calls, total, self] = functions[profile.functions().offset(number)];
            calls += times[number].calls;
            total += times[number].total_ticks;
            self += times[number].self_ticks;
        }
        tracer += profile.tracer_ticks();
        duration += profile.duration_ticks();
    }
};

// The time of all calls that each function has in a balanced stream. A task has one track.
struct Spent final : EventSink {
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names[number] = place.name;
    }
    void on_track(const Track& track) override {
        const bool may_move = track.context != 0 && track.context != protocol::several_contexts;
        if (may_move) EXPECT_TRUE(tasks.insert(track.context).second) << track.context;
    }
    void leave(const Track&, const EndedCall& call) override {
        spent[names[call.function]] += call.to - call.from;
    }
    void finish() override {}

    std::set<std::uint32_t> tasks;
    std::map<std::uint32_t, std::string> names;
    std::map<std::string, std::uint64_t> spent;
};

class Parts {
public:
    Parts(const TargetStream& target, const Symbols& symbols)
        : target_(target), symbols_(symbols) {}

    Sums sums_of(const std::vector<Part>& each) const {
        Sums sums;
        for (const Part& part : each) sums.add(*profile_of(part));
        return sums;
    }
    Sums whole() const { return sums_of({Part{}}); }
    void expect_sum(const std::vector<Part>& each, const char* what) const {
        EXPECT_EQ(sums_of(each).functions, whole().functions) << what;
    }
    std::unique_ptr<Profile> profile_of(const Part& part) const {
        auto profile = std::make_unique<Profile>();
        profile->know_code(code_of_calls(known(symbols_)));
        read_part(target_, symbols_, part, *profile);
        profile->know_code({});
        return profile;
    }
    void events_of(const Part& part, EventSink& sink) const {
        Events events(sink, known(symbols_), "trace", std::nullopt);
        read_part(target_, symbols_, part, events);
    }

    std::map<std::string, std::uint64_t> spent_in(const std::vector<Part>& each) const {
        std::map<std::string, std::uint64_t> sum;
        for (const Part& part : each) {
            Spent of_part;
            events_of(part, of_part);
            for (const auto& [name, time] : of_part.spent) sum[name] += time;
        }
        return sum;
    }

private:
    const TargetStream& target_;
    const Symbols& symbols_;
};

// Divides a recording of this length, in ns, at some times. Its begin and end stay open.
std::vector<Part> partition(unsigned seed, std::uint64_t length) {
    std::mt19937 random(seed);
    std::set<std::uint64_t> ends;
    for (unsigned i = random() % 6; i > 0; --i) ends.insert(1 + random() % length);
    std::vector<Part> parts;
    std::optional<std::uint64_t> from;
    for (const std::uint64_t end : ends) parts.push_back(of_time(std::exchange(from, end), end));
    parts.push_back(of_time(from));
    return parts;
}

TEST(Parts, TimesAddUp) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const RandomTrace trace(seed);
        const Parts parts(trace.target, trace.symbols);
        const Report report = trace.report(true);
        const std::uint64_t length =
            report.duration_ns - (trace.target.lossless ? report.tracer_ns : 0);
        EXPECT_TRUE(parts.sums_of(partition(seed, length)) == parts.whole());
    }
}

TEST(Parts, EventsAddUp) {
    for (unsigned seed = 0; seed < 60; seed += 5) {  // a clock of 1 GHz: no time is rounded
        SCOPED_TRACE(seed);
        const RandomTrace trace(seed);
        const Parts parts(trace.target, trace.symbols);
        EXPECT_EQ(parts.spent_in(partition(seed, trace.report(true).duration_ns)),
                  parts.spent_in({{}}));
    }
}

Part of_subtree(const char* function, Part part = {}) {
    part.under = function;
    return part;
}
std::vector<Part> subtrees(const std::vector<Part>& parts = {Part{}}) {
    std::vector<Part> all;
    for (const Part& part : parts) {
        for (const char* outermost : {"f0", "f1", "f2"}) all.push_back(of_subtree(outermost, part));
    }
    return all;
}
const std::vector<Part> tasks{of_task("0"), of_task("1"), of_task("2")};

// A part of which the whole need not be the sum: it must only be balanced.
void expect_balanced(const Parts& parts, const Part& part) {
    BalancedChecker checker;
    checker.quiet = true;
    parts.events_of(part, checker);
    checker.finish();
    EXPECT_THAT(checker.wrong, IsEmpty());
}

TEST(Parts, CoresTasksAndSubtreesAddUp) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const RandomTasks trace(seed);
        const Parts parts(trace.target, trace.symbols);
        parts.expect_sum({of_core(0), of_core(1)}, "cores");
        parts.expect_sum(tasks, "tasks");
        parts.expect_sum(subtrees(), "subtrees");
        parts.expect_sum(subtrees(partition(seed, 4000)), "times and subtrees");
    }
}

// Tasks that move, also over the ends of a time.
TEST(Parts, OfTasksThatMoveAddUp) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        const RandomTasks trace(seed, true);
        const Parts parts(trace.target, trace.symbols);
        const std::vector<Part> times = partition(seed, 4000);
        parts.expect_sum(tasks, "tasks");
        parts.expect_sum(times, "times");
        parts.expect_sum(subtrees(times), "times and subtrees");
        for (const Part& part : times) expect_balanced(parts, part);
        // A task that waits between two cores when the part begins is shown from its arrival on.
        const auto whole = parts.spent_in({{}});
        for (const auto& [name, time] : parts.spent_in(times))
            EXPECT_LE(time, whole.at(name)) << name;
        for (unsigned core = 0; core < 2; ++core) {
            expect_balanced(parts, of_core(core));
            (void)parts.profile_of(of_core(core));
        }
        if (testing::Test::HasFailure()) return;
    }
}

class PartOfTwoCalls : public testing::Test {
protected:
    PartOfTwoCalls() { Play<TargetStream>{target}("hello 0:1( 100:2( 50:m7 150:) 100:) end"); }

    TargetStream target;
    Symbols symbols = symbols_of(target, {"f0", "f1"});
    Parts parts{target, symbols};
};

// Each call counts with the part in which it begins. Min and max are of whole calls.
TEST_F(PartOfTwoCalls, HasTheCallsThatCrossItsEnds) {
    const auto rows = [this](std::uint64_t from, std::uint64_t to) {
        const Report report =
            or_throw(make_report(*parts.profile_of(of_time(from, to)), {}, &symbols, true));
        std::set<std::string> list;
        for (const FunctionRow& row : report.functions) {
            list.insert(fmt::format("{}: {} calls {} {}, {} cut, {} open, {} timed", row.name,
                                    row.calls, row.total_ns, row.self_ns, row.cut, row.open,
                                    row.timed));
        }
        return fmt::format("{}; {}", report.duration_ns, joined(list, "; "));
    };
    EXPECT_EQ(rows(50, 250),
              "200; f0: 0 calls 200 50, 1 cut, 0 open, 0 timed; "
              "f1: 1 calls 150 150, 1 cut, 0 open, 0 timed");
    EXPECT_EQ(rows(0, 1000),
              "400; f0: 1 calls 400 200, 0 cut, 0 open, 1 timed; "
              "f1: 1 calls 200 200, 0 cut, 0 open, 1 timed");
}

TEST_F(PartOfTwoCalls, MarkersAndTimesBeforeTheEndAreResolved) {
    RecordingBounds bounds;
    parts.events_of({}, bounds);
    const TimeRange range = or_throw(bounds.resolved(or_throw(read_time_range("@7..-50ns"))));
    EXPECT_EQ(range.from->ns, 150u);
    EXPECT_EQ(range.to->ns, 350u);
    EXPECT_THAT(test::error_of([&] {
                    (void)or_throw(bounds.resolved(or_throw(read_time_range("@8.."))));
                }).what(),
                HasSubstr("no marker 8"));
}

TEST_F(PartOfTwoCalls, TextIsInOnePart) {
    struct Text : BalancedChecker {
        void console(std::string_view bytes, Nanoseconds) override { text += bytes; }
        std::string text;
    };
    TargetStream with_text;
    with_text.hello();
    with_text.console("early");  // before the first record
    with_text.ret(with_text.entry(1, 0), 100);
    with_text.console(" late");
    with_text.finish();
    const auto text_of = [&](const std::string& range) {
        Text sink;
        Part part;
        part.time = or_throw(read_time_range(range));
        Parts(with_text, symbols).events_of(part, sink);
        return sink.text;
    };
    EXPECT_EQ(text_of("..50ns"), "early");
    EXPECT_EQ(text_of("0ns..1us"), "early late");
    EXPECT_EQ(text_of("50ns.."), " late");
}

TEST_F(PartOfTwoCalls, APartOfNothingIsAnError) {
    const auto error_of = [this](const Part& part) -> std::string {
        Profile profile;
        return test::error_of([&] {
                   read_part(target, symbols, part, profile);
                   or_throw(profile.part().check());
               })
            .what();
    };
    EXPECT_THAT(error_of(of_time(300, 200)), HasSubstr("not after its begin"));
    EXPECT_THAT(error_of(of_time(401, 500)), HasSubstr("ended at 400ns"));
    EXPECT_THAT(error_of(of_core(3)), HasSubstr("only of 0"));
    EXPECT_THAT(error_of(of_subtree("f2")), HasSubstr("is named f2: did you mean"));
    EXPECT_THAT(error_of(of_task("5")), HasSubstr("no task that ran is named 5"));
}

TEST(TimeRange, Texts) {
    EXPECT_EQ(or_throw(read_time_range("10ms..20ms")).to->ns, 20'000'000u);
    EXPECT_EQ(or_throw(read_time_range("..1.5s")).to->ns, 1'500'000'000u);
    EXPECT_FALSE(or_throw(read_time_range("..1.5s")).from);
    EXPECT_TRUE(or_throw(read_time_range("-5us..")).needs_bounds());
    EXPECT_EQ(or_throw(read_time_around("10us,2us")).from->ns, 8'000u);
    EXPECT_EQ(or_throw(read_time_around("10us")).from->ns, 0u);
    EXPECT_EQ(read_time("0.0000015s"), 1500u);
    for (const char* none : {"", "10", "ms", "1e3ms", "-1ms", "1 ms", "1min", "9999999999999s"})
        EXPECT_FALSE(read_time(none)) << none;
    for (const char* none : {"", "..", "10ms", "10..20", "@x..", "@..", "1ms..2ms..3ms"}) {
        EXPECT_THAT(test::error_of([&] { (void)or_throw(read_time_range(none)); }).what(),
                    StartsWith("--time "))
            << none;
    }
}

}  // namespace nopscope::host::test::part_test
