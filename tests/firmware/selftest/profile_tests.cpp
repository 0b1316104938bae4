// SPDX-License-Identifier: Apache-2.0
// The profile recorder on the board: its sums, and the calls it counts.
#include "tests/firmware/selftest/tracing.hpp"

#include "tracer/recorders/profile.hpp"

namespace {

const void* const catches_only[] = {pointer(catches)};
const void* const some[] = {pointer(leaf),   pointer(calls_leaf), pointer(tail_calls_leaf),
                            pointer(sum_to), pointer(throws),     pointer(catches)};

// The increase for a function since its construction.
class Since {
public:
    explicit Since(const void* function) : function_(function), before_(profile_of(function)) {}
    SiteProfile now() const {
        SiteProfile now = profile_of(function_);
        now.calls -= before_.calls;
        now.total -= before_.total;
        now.self -= before_.self;
        for (unsigned n = 0; n < std::size(now.bins); ++n) now.bins[n] -= before_.bins[n];
        return now;
    }
    std::uint64_t calls() const { return now().calls; }

private:
    const void* function_;
    SiteProfile before_;
};

// Self times (in whole ticks) add up to the outermost total, less the cost of the calls inside.
bool adds_up(std::uint64_t self, std::uint64_t total, std::uint64_t calls_inside) {
    const std::uint64_t taken = calls_inside * profile_memory.cost() >> profiled_shift;
    const auto off = static_cast<std::int64_t>(self - (total - taken));
    return off >= -3 && off <= 3;  // roundings
}

}  // namespace

SELFTEST("profile.adds_up_calls_and_times") {
    REQUIRE(only_traced(Recorder::profile, Sites::of(some)));
    REQUIRE(profile_of(pointer(leaf)).calls == 0);  // first profile test
    const Since of_outer(pointer(calls_leaf)), of_inner(pointer(leaf));
    for (unsigned i = 0; i < 1000; ++i) REQUIRE(calls_leaf(i) == i + 2);
    const SiteProfile outer = of_outer.now(), inner = of_inner.now();
    REQUIRE(outer.calls == 1000 && inner.calls == 1000);
    REQUIRE(adds_up(outer.self + inner.self, outer.total, 1000) && inner.self == inner.total);
    REQUIRE(profile_memory.cost() != 0 && adds_up(outer.self, outer.total - inner.total, 1000));
    REQUIRE(outer.min <= outer.max && outer.total >= 1000 * outer.min);
    REQUIRE(outer.total <= 1000 * outer.max && outer.max < (std::uint64_t{1} << 62));
    const auto bits = [](std::uint64_t ticks) {
        return ticks == 0 ? 0 : 64 - __builtin_clzl(ticks);
    };
    REQUIRE(outer.bins[bits(outer.min)] != 0 && outer.bins[bits(outer.max)] != 0);
}

SELFTEST("profile.is_one_recorder_of_a_site") {
    REQUIRE(only_traced(Recorder::profile, Sites::of(some)));
    const Since inner(pointer(leaf)), outer(pointer(calls_leaf));
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(leaf_only))));
    REQUIRE(calls_leaf(1) == 3 && tail_calls_leaf(1) == 3);  // hooks of both recorders nest
    REQUIRE(inner.calls() == 0 && outer.calls() == 1);
    REQUIRE(hooked_return_address(0) == 0);
    REQUIRE(is_ok(enable(Recorder::profile, Sites::of(leaf_only))));
    REQUIRE(calls_leaf(1) == 3 && inner.calls() == 1);
    stop();
    REQUIRE(calls_leaf(1) == 3 && inner.calls() == 1);
    start();
    REQUIRE(is_ok(disable(Sites::of(leaf_only))));
    REQUIRE(calls_leaf(1) == 3 && inner.calls() == 1 && outer.calls() == 3);
}

SELFTEST("profile.and_graph_s_calls_are_left_by_one_longjmp") {
    for (const Recorder inner : {Recorder::profile, Recorder::graph}) {
        const Recorder outer = inner == Recorder::graph ? Recorder::profile : Recorder::graph;
        REQUIRE(is_ok(enable(inner, Sites::of(throws_only))));
        REQUIRE(is_ok(enable(outer, Sites::of(catches_only))));
        const Since below(pointer(throws)), above(pointer(catches));
        REQUIRE(catches(3) == 4 && hooked_return_address(0) == 0);
        REQUIRE(below.calls() == (inner == Recorder::profile ? 4 : 0));
        REQUIRE(above.calls() == (outer == Recorder::profile ? 1 : 0));
    }
}

extern "C" const char nopscope_profile_entry[];  // profile.S of tracer/arch

// Like the middle of a change.
SELFTEST("profile.finds_the_cell_of_a_call_whose_slot_has_none") {
    static Ops without_cell;
    without_cell.direct = reinterpret_cast<std::uintptr_t>(nopscope_profile_entry);
    REQUIRE(trace(Sites::of(leaf_only), {&without_cell}));
    const Since since(pointer(leaf));
    REQUIRE(leaf(1) == 2 && since.calls() == 1 && hooked_return_address(0) == 0);
}

SELFTEST("profile.has_the_calls_that_find_no_room_in_adaptive_mode") {
    REQUIRE(nothing_traced() && is_ok(set_mode(Mode::adaptive)));
    pump();
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(leaf_only))));
    const Since since(pointer(leaf));
    const auto overflowed = [] { return grown(&Counters::overflowed); };
    const auto dropped = [] { return grown(&Counters::dropped); };
    for (unsigned i = 0; i < 1000000 && overflowed() == 0; ++i) REQUIRE(leaf(1) == 2);
    for (unsigned i = 0; i < 100; ++i) REQUIRE(leaf(1) == 2);
    REQUIRE(overflowed() == 101 && dropped() == 0);
    REQUIRE(since.calls() == 101 && hooked_return_address(0) == 0 && is_ok(set_mode(Mode::stream)));
    pump();
    for (unsigned i = 0; i < 1000000 && dropped() == 0; ++i) REQUIRE(leaf(1) == 2);
    REQUIRE(overflowed() == 101 && dropped() == 1);
}
