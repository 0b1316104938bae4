// SPDX-License-Identifier: Apache-2.0
// Duration records (one a call, at its end) give the same profile as entries and returns.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::durations_test {

// Collects records and makes a profile of them directly.
struct Told {
    void add(Kind kind, std::uint32_t payload, std::uint64_t clock) {
        records.push_back(stamped(kind, payload, clock));
    }
    std::uint64_t entry(std::uint32_t site, std::uint64_t clock) {
        add(Kind::entry, site, clock);
        return records.size() - 1;
    }
    void ret(std::uint64_t entry, std::uint64_t clock) {
        add(Kind::ret, static_cast<std::uint32_t>(entry) << 1, clock);
    }
    void extended(Extended what, std::uint32_t argument, std::uint64_t clock,
                  std::initializer_list<std::uint64_t> data = {}) {
        add_with_data(records, what, argument, clock, data);
    }
    void duration(std::uint32_t depth, std::uint32_t site, std::uint64_t begin, std::uint64_t end) {
        extended(Extended::duration, depth, end, {site, end - begin});
    }
    // In two batches, so that a record and its data may be in different batches. `missing` records
    // are between them.
    Profile& profile(std::size_t first, std::uint64_t missing = 0, std::uint64_t base = 0) {
        const std::span<const StampedRecord> all(records);
        result.on_session(hello);
        result.on_trace(0, {.first_index = 0, .records = all.first(first)});
        result.on_trace(0, {.first_index = first + missing,
                            .records = all.subspan(first),
                            .gap = missing != 0,
                            .base = base});
        result.on_session_end();
        return result;
    }
    Profile& profile() { return profile(records.size() / 2); }
    // Those of all functions.
    std::uint64_t calls() {
        std::uint64_t all = 0;
        for (const FunctionTimes& of : profile().times()) all += of.calls;
        return all;
    }
    std::vector<StampedRecord> records;
    HelloInfo hello = [] {
        HelloInfo made;
        made.clock_hz = 1'000'000'000;
        return made;
    }();
    Profile result;
};

// "/1/2 calls total self; " of a path of sites, and "2 calls total self min max timed; " of a site.
std::string figures(const Profile& profile) {
    std::map<std::string, std::string> all;
    const auto& nodes = profile.tree().nodes();
    const auto path = [&](std::uint32_t node) {
        std::string name;
        for (; node > CallTree::overflow; node = nodes[node].parent)
            name = fmt::format("/{}{}", profile.functions().offset(nodes[node].function) / 8, name);
        return (node == CallTree::after_gap ? "?" : "") + name;
    };
    for (std::uint32_t node = CallTree::overflow + 1; node < nodes.size(); ++node) {
        const auto& of = nodes[node];
        if (of.calls != 0)
            all[path(node)] = fmt::format("{} {} {}", of.calls, of.total_ticks, of.self_ticks);
    }
    const auto times = profile.times();
    for (std::uint32_t number = 1; number < times.size(); ++number) {
        const FunctionTimes& of = times[number];
        all[std::to_string(profile.functions().offset(number) / 8)] =
            fmt::format("{} {} {} {} {} {}", of.calls, of.total_ticks, of.self_ticks, of.min_ticks,
                        of.max_ticks, of.timed);
    }
    std::string text;
    for (const auto& [name, numbers] : all) text += name + " " + numbers + "; ";
    return text;
}

TEST(Durations, TheProfileIsThatOfEntriesAndReturns) {
    std::mt19937 random(6);
    for (int round = 0; round < 50; ++round) {
        Told whole;
        Told by_two;
        struct Open {
            std::uint32_t site;
            std::uint64_t begin, entry;
        };
        std::vector<Open> open;
        std::uint64_t clock = 1000;
        for (Told* told : {&whole, &by_two}) {  // also on the CPU, and without short calls
            if (round % 3 != 0) told->result.time_on_cpu();
            if (round % 3 == 2) told->result.leave_out_shorter(100, true);
            told->add(Kind::call, 9, clock);  // the reader knows a context from its first record on
        }
        const auto end_one = [&] {
            by_two.ret(open.back().entry, clock);
            whole.duration(static_cast<std::uint32_t>(open.size() - 1), open.back().site,
                           open.back().begin, clock);
            open.pop_back();
        };
        for (int i = 0; i < 400; ++i) {
            clock += random() % 50;
            if (open.empty() || (open.size() < 12 && random() % 2 == 0)) {
                const std::uint32_t site = 1 + random() % 4;  // few sites, so that calls recurse
                open.push_back({site, clock, by_two.entry(site, clock)});
            } else {
                end_one();
            }
            for (const auto& [begin, argument, end, ticks] :
                 {std::tuple{Extended::tracer_begin, 0u, Extended::tracer_end, 500u},
                  {Extended::context, 5u, Extended::context, 300u}}) {
                if (random() % 40 != 0) continue;
                for (Told* told : {&whole, &by_two}) {
                    told->extended(begin, argument, clock);
                    told->extended(end, 0, clock + ticks);
                }
                clock += ticks;
            }
        }
        for (; !open.empty(); clock += 3) end_one();
        ASSERT_EQ(figures(whole.profile()), figures(by_two.profile())) << round;
    }
}

TEST(Durations, InsideAnOpenCallTheyAreItsChildren) {
    Told told;
    const auto a = told.entry(1, 100);
    told.duration(2, 3, 120, 150);
    told.duration(1, 2, 110, 180);
    told.duration(1, 2, 185, 190);
    told.ret(a, 200);
    told.duration(0, 4, 300, 310);
    EXPECT_EQ(figures(told.profile()),
              "/1 1 100 25; /1/2 2 75 45; /1/2/3 1 30 30; /4 1 10 10; 1 1 100 25 100 100 1; "
              "2 2 75 45 5 70 2; 3 1 30 30 30 30 1; 4 1 10 10 10 10 1; ");
}

// As many as a chain of tail calls has.
TEST(Durations, HaveNothingOfTheTracersThousandsOfWorks) {
    constexpr std::uint64_t begin = 1100, works = 4000, end = begin + 20 * works + 50;
    Told told;
    const auto work = [&](std::uint64_t from, std::uint64_t to) {
        told.extended(Extended::tracer_begin, 0, from);
        told.extended(Extended::tracer_end, 0, to);
    };
    work(500, 1000);
    for (std::uint64_t n = 0; n < works; ++n) work(begin + 20 * n + 5, begin + 20 * n + 15);
    told.duration(0, 2, begin, end);
    const std::uint64_t ticks = 10 * works + 50;
    EXPECT_THAT(figures(told.profile()), StartsWith(fmt::format("/2 1 {} {}; ", ticks, ticks)));
}

// The call of a duration record has no self time in a gap. If the call began in the gap, its self
// time begins behind it.
TEST(Durations, AGapCountsForNoCall) {
    Told told;
    told.entry(9, 100);
    const std::size_t before = told.records.size();
    told.duration(2, 3, 350, 380);
    told.duration(1, 2, 120, 400);
    // Call 3 began before the first record after the gap, at 380.
    EXPECT_THAT(figures(told.profile(before, 5, 360)),
                StartsWith("/9 1 300 0; /9/2 1 280 20; /9/2/3 1 30 0; "));
}

// Also those whose time is less than their overhead.
TEST(Durations, AllCallsCountUnlessAMinimumIsWanted) {
    for (const std::uint64_t least : {0, 1, 11}) {
        Told told;
        told.hello.calibrated = true;
        told.hello.overheads[protocol::overhead_index(protocol::Recorder::duration)] = {
            20 * protocol::overhead_unit, 0};
        told.duration(1, 2, 100, 105);
        told.duration(1, 3, 200, 230);  // 10 without the overhead
        told.result.leave_out_shorter(least, false);
        EXPECT_EQ(told.calls(), least == 0 ? 2u : least == 1 ? 1u : 0u) << least;
    }
}

TEST(Durations, MissingCallersAreMarkedInThePath) {
    Told told;
    told.duration(2, 3, 120, 150);
    told.duration(1, 2, 160, 180);  // it began later: its caller's record is lost
    told.duration(3, 5, 190, 195);
    told.extended(Extended::counter, 8, 197, {77});  // not data of a duration
    EXPECT_EQ(figures(told.profile()),
              "/2 1 20 20; /5 1 5 5; 2 1 20 20 20 20 1; 3 1 30 30 30 30 1; 5 1 5 5 5 5 1; "
              "?/3 1 30 30; ");
}

TEST(Durations, MemoryIsBoundedByThePaths) {
    Told told;
    for (std::uint32_t i = 0; i < 300'000; ++i)
        told.duration(1 + i % 5000, 1 + i, i * 10ull, i * 10ull + 5);
    EXPECT_EQ(told.calls(), 300'000u);
}

}  // namespace nopscope::host::test::durations_test
