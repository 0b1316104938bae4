// SPDX-License-Identifier: Apache-2.0
// The list of a timeline's calls is what a sort of all calls gives.
#include "host-tools/analysis/timeline/call_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "host-tools/analysis/timeline/timeline.hpp"

namespace nopscope::host {
namespace {

using Told =
    std::tuple<std::int64_t, std::uint32_t, std::uint32_t, std::int64_t, std::uint32_t, Left, bool>;

Told told(const PlacedCall& one) {
    return {one.call.from,     one.track,    one.depth,        one.call.duration,
            one.call.function, one.call.how, one.call.is_point};
}
bool is_before(const PlacedCall& a, const PlacedCall& b) {
    const auto key = [](const PlacedCall& one) {
        return std::tuple(one.call.from, one.track, one.depth, one.call.duration);
    };
    return key(a) < key(b);
}

// Random calls of three tracks. Many begin together, and some are told at their end only.
class Calls {
public:
    explicit Calls(unsigned seed, unsigned steps, Timeline timeline = Timeline())
        : timeline(std::move(timeline)), random_(seed) {
        for (std::uint32_t n = 0; n < 3; ++n) this->timeline.on_track({n, n, 0});
        for (std::uint32_t n = 1; n < functions; ++n)
            this->timeline.on_function(n, {.name = "f", .file = {}, .line = 0, .address = 2 * n});
        for (unsigned n = 0; n < steps; ++n) step(random_() % 3);
        for (std::uint32_t track = 0; track < 3; ++track) {
            while (!stacks_[track].empty()) leave(track, Left::open);
        }
        std::ranges::stable_sort(all, is_before);
    }

    // By brute force: those of some functions, that begin in [from, to).
    std::vector<PlacedCall> of(const std::vector<std::uint32_t>& functions,
                               std::int64_t from = INT64_MIN, std::int64_t to = INT64_MAX) const {
        std::vector<PlacedCall> list;
        for (const PlacedCall& one : all) {
            const bool is_wanted =
                functions.empty() ||
                std::ranges::find(functions, one.call.function) != functions.end();
            if (is_wanted && one.call.from >= from && one.call.from < to) list.push_back(one);
        }
        return list;
    }
    CallList list(const std::vector<std::uint32_t>& functions) const {
        if (functions.empty()) return timeline.calls();
        FunctionSet set;
        for (const std::uint32_t one : functions) set.add(one);
        return timeline.calls(set);
    }
    std::int64_t end() const { return static_cast<std::int64_t>(now_ - 1000); }
    std::int64_t time() { return static_cast<std::int64_t>(random_() % (now_ - 1000)); }
    std::size_t below(std::size_t most) { return random_() % most; }

    static constexpr std::uint32_t functions = 200;  // more than a chunk's bits
    Timeline timeline;
    std::vector<PlacedCall> all;  // in the order of the list

private:
    struct Open {
        std::uint32_t function;
        Nanoseconds from;
    };

    void step(std::uint32_t track) {
        now_ += random_() % 3;
        const Track on{track, track, 0};
        const auto depth = static_cast<std::uint32_t>(stacks_[track].size());
        // Some functions are rare.
        const std::uint32_t function = 1 + random_() % (random_() % 4 == 0 ? functions - 1 : 5);
        switch (random_() % 20) {
        case 0:
            timeline.point(on, function, now_);
            return add(track, depth, {since(now_), 0, function, Left::returned, true});
        case 1: {
            const Nanoseconds from = now_ - random_() % 40;
            timeline.whole(on, function, from, now_, depth);
            since(now_);
            return add(track, depth, {since(from), since(now_) - since(from), function, {}});
        }
        case 2:
            timeline.entry(on, tracer_function, now_);
            since(now_);
            stacks_[track].push_back({tracer_function, now_});
            return leave(track, Left::returned);
        default: break;
        }
        if (depth < 6 && random_() % 2 == 0) {
            timeline.entry(on, function, now_);
            since(now_);
            stacks_[track].push_back({function, now_});
        } else if (depth != 0) {
            leave(track, static_cast<Left>(random_() % 10 == 0 ? random_() % 4 : 0));
        }
    }
    void leave(std::uint32_t track, Left how) {
        const Open open = stacks_[track].back();
        stacks_[track].pop_back();
        timeline.leave({track, track, 0}, open.function, now_, how);
        add(track, static_cast<std::uint32_t>(stacks_[track].size()),
            {since(open.from), static_cast<std::int64_t>(now_ - open.from), open.function, how});
    }
    void add(std::uint32_t track, std::uint32_t depth, const TimelineCall& call) {
        all.push_back({track, depth, call});
    }
    // Since the first event: call it first with the time of each.
    std::int64_t since(Nanoseconds at) {
        if (!origin_) origin_ = at;
        return static_cast<std::int64_t>(at - *origin_);
    }

    std::mt19937 random_;
    Nanoseconds now_ = 1000;
    std::optional<Nanoseconds> origin_;
    std::vector<Open> stacks_[3];
};

std::vector<Told> told(const std::vector<PlacedCall>& list, std::size_t first = 0,
                       std::size_t count = SIZE_MAX) {
    std::vector<Told> out;
    for (std::size_t at = first; at < list.size() && count > 0; ++at, --count)
        out.push_back(told(list[at]));
    return out;
}

const std::vector<std::uint32_t> all_functions, one{3}, rare{150}, some{2, 66, 130, 151, 199},
    tracer{tracer_function};

TEST(CallList, ReadsFromAnyPlaceWhatASortGives) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        Calls calls(seed, seed == 0 ? 100 : 8'000);
        for (const auto& functions : {all_functions, one, rare, some, tracer}) {
            const std::vector<PlacedCall> sorted = calls.of(functions);
            const CallList list = calls.list(functions);
            ASSERT_EQ(list.size(), sorted.size());
            EXPECT_FALSE(list.begin());
            if (seed == 1 && functions.empty()) {
                EXPECT_GT(list.size(), 3'000u);
                EXPECT_EQ(told(list.read(0, SIZE_MAX)), told(sorted));
            }
            for (unsigned n = 0; n < 30; ++n) {
                const std::size_t count = calls.below(40);
                const std::size_t first =
                    n == 0   ? 0
                    : n == 1 ? sorted.size() - std::min<std::size_t>(sorted.size(), count)
                             : calls.below(sorted.size() + 10);
                EXPECT_EQ(told(list.read(first, count)), told(sorted, first, count))
                    << first << " " << count;
            }
        }
    }
}

TEST(CallList, KnowsHowManyCallsAreBeforeATimeAndBeforeACall) {
    Calls calls(5, 8'000);
    for (const auto& functions : {all_functions, one, rare}) {
        const std::vector<PlacedCall> sorted = calls.of(functions);
        const CallList list = calls.list(functions);
        for (unsigned n = 0; n < 200; ++n) {
            const std::int64_t time = n == 0 ? INT64_MIN : n == 1 ? INT64_MAX : calls.time();
            EXPECT_EQ(list.before(time), calls.of(functions, INT64_MIN, time).size());
            const PlacedCall& call = calls.all[calls.below(calls.all.size())];
            const auto [low, high] = std::ranges::equal_range(sorted, call, is_before);
            EXPECT_EQ(list.before(call), static_cast<std::size_t>(low - sorted.begin()));
            EXPECT_EQ(list.behind(call), static_cast<std::size_t>(high - sorted.begin()));
        }
    }
}

TEST(CallList, TheLongestAndTheShortestCallOfARange) {
    Calls calls(6, 8'000);
    for (const auto& functions : {all_functions, one, rare, some}) {
        const CallList list = calls.list(functions);
        for (unsigned n = 0; n < 100; ++n) {
            const std::int64_t from = n == 0 ? INT64_MIN : calls.time();
            const std::int64_t to =
                n == 0 ? INT64_MAX : from + static_cast<std::int64_t>(calls.below(3000));
            std::optional<PlacedCall> longest, shortest;
            for (const PlacedCall& each : calls.of(functions, from, to)) {
                const bool is_timed = each.call.to() <= to && !each.call.is_point &&
                                      each.call.how != Left::gap && each.call.how != Left::open;
                if (!is_timed) continue;
                if (!longest || each.call.duration > longest->call.duration) longest = each;
                if (!shortest || each.call.duration < shortest->call.duration) shortest = each;
            }
            const auto found_longest = list.longest(from, to);
            const auto found_shortest = list.shortest(from, to);
            ASSERT_EQ(found_longest.has_value(), longest.has_value());
            ASSERT_EQ(found_shortest.has_value(), shortest.has_value());
            if (!longest) continue;
            EXPECT_EQ(told(*found_longest), told(*longest));
            EXPECT_EQ(told(*found_shortest), told(*shortest));
        }
    }
}

TEST(CallList, OfEquallyLongCallsTheFirstIsTheLongest) {
    for (const Nanoseconds longer : {0, 1}) {
        Timeline timeline;
        const Track tracks[] = {{0, 0, 0}, {1, 1, 0}};
        for (const Track& track : tracks) timeline.on_track(track);
        const auto call = [&](const Track& track, Nanoseconds from, Nanoseconds duration) {
            timeline.entry(track, 1, from);
            timeline.leave(track, 1, from + duration, Left::returned);
        };
        for (Nanoseconds n = 0; n < 300; ++n) call(tracks[0], 100 * n, n == 200 ? 50 : 5);
        for (Nanoseconds n = 0; n < 300; ++n) call(tracks[1], 100 * n, n == 100 ? 50 + longer : 5);
        const auto longest = timeline.calls().longest(INT64_MIN, INT64_MAX);
        ASSERT_TRUE(longest);
        EXPECT_EQ(longest->track, 1u);
        EXPECT_EQ(longest->call.from, 100 * 100);
    }
}

TEST(CallList, BeginsBehindTheCallsOfWhichOnlySumsAreLeft) {
    MemoryBudget small(1.0);
    small.take(small.left() - 100'000);
    Calls calls(7, 20'000, Timeline(small));
    for (const auto& functions : {all_functions, one}) {
        const CallList list = calls.list(functions);
        ASSERT_TRUE(list.begin());
        ASSERT_LT(*list.begin(), calls.end());
        const std::vector<PlacedCall> kept = calls.of(functions, *list.begin());
        EXPECT_EQ(list.size(), kept.size());
        EXPECT_EQ(told(list.read(0, SIZE_MAX)), told(kept));
        EXPECT_EQ(list.before(*list.begin()), 0u);
    }
    // Calls that begin before it are there, too, but not all.
    const CallList list = calls.list(all_functions);
    EXPECT_GT(calls.timeline.summed(), 1000u);
    EXPECT_GE(calls.all.size() - calls.timeline.summed(), list.size());
}

TEST(CallList, TheLongestCallStaysWhereOnlySumsAreLeft) {
    MemoryBudget small(1.0);
    small.take(small.left() - 100'000);
    Timeline timeline(small);
    const Track track{0, 0, 0};
    timeline.on_track(track);
    for (unsigned n = 0; n < 100'000; ++n) {
        timeline.entry(track, 1, 1000 * n);
        timeline.leave(track, 1, 1000 * n + (n == 100 ? 900 : 5), Left::returned);
    }
    const CallList list = timeline.calls();
    EXPECT_GT(*list.begin(), 100'000);
    const auto longest = list.longest(INT64_MIN, INT64_MAX);
    ASSERT_TRUE(longest);
    EXPECT_EQ(longest->call.from, 100'000);
    EXPECT_EQ(longest->call.duration, 900);
}

TEST(CallList, MayBeEmpty) {
    const Timeline timeline;
    const CallList list = timeline.calls();
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.before(5), 0u);
    EXPECT_TRUE(list.read(0, 10).empty());
    EXPECT_FALSE(list.longest(INT64_MIN, INT64_MAX));
}

}  // namespace
}  // namespace nopscope::host
