// SPDX-License-Identifier: Apache-2.0
// Arguments, results and counters in the recording.
#include "nopscope/capture.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/tracing.hpp"

namespace {

bool begin() { return only_traced(Recorder::graph, Sites::of(both)); }
constexpr std::uint64_t large = 0x8123'4567'89ab'cdef;

}  // namespace

SELFTEST("captures.arguments_come_before_their_call") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(leaf_only), 1)));
    const Recording recording = record([] {
        (void)calls_leaf(41);
        (void)leaf(large);
        (void)leaf(~std::uint64_t{0});
    });
    REQUIRE(
        recording.reads("calls_leaf([1 leaf 29]leaf())[101 leaf 8123456789abcdef]leaf()"
                        "[1 leaf ffffffffffffffff]leaf()"));
}

SELFTEST("captures.all_eight_registers") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(leaf_only), 0xff)));
    const Recording recording = record([] {
        using Eight = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                        std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
        const auto eight = reinterpret_cast<Eight>(reinterpret_cast<std::uintptr_t>(leaf_only[0]));
        (void)eight(0, 1, large, 3, ~std::uint64_t{4}, 5, 6, large + 7);
    });
    REQUIRE(
        recording.reads("[84ff leaf 0 1 8123456789abcdef 3 fffffffffffffffb 5 6 "
                        "8123456789abcdf6]leaf()"));
}

SELFTEST("captures.results_come_after_their_call") {
    REQUIRE(begin() && is_ok(capture_result(Sites::of(both))));
    const Recording recording = record([] {
        (void)calls_leaf(1);
        (void)leaf(large);
    });
    REQUIRE(
        recording.reads("calls_leaf(leaf(){0 leaf 2}){0 calls_leaf 3}leaf()"
                        "{1 leaf 8123456789abcdf0}"));
    REQUIRE(is_ok(capture_nothing(Sites::all())) && ops_at(index_of(pointer(leaf))) == 1);
}

SELFTEST("captures.a_function_has_one_mask") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(both), 1)));
    REQUIRE(is_ok(capture_arguments(Sites::of(leaf_only), 2)));
    const auto run = [] {
        set_second_argument(7);  // neither function changes it
        (void)calls_leaf(5);
    };
    REQUIRE(record(run).reads("[1 calls_leaf 5]calls_leaf([2 leaf 7]leaf())"));
    REQUIRE(is_ok(capture_arguments(Sites::of(both), 0)));
    REQUIRE(record(run).reads("calls_leaf(leaf())"));
    for (std::uint8_t mask = 1; mask <= 8; ++mask) {
        REQUIRE(is_ok(capture_arguments(Sites::range(mask, 1), mask)));  // each stays in use
    }
    REQUIRE(capture_arguments(Sites::of(leaf_only), 9) == Status::too_many);
    REQUIRE(is_ok(capture_nothing(Sites::all())) && ops_at(index_of(pointer(leaf))) == 1);
}

SELFTEST("captures.counters") {
    REQUIRE(begin());
    const Recording recording = record([] {
        counter(7, 12345);
        counter(0xffffff, -1);
        counter(1, std::int64_t{1} << 56);
        stop();
        counter(1, 5);
    });
    REQUIRE(recording.reads("#e 3039#1fffffe ffffffffffffffff#3 100000000000000"));
}
