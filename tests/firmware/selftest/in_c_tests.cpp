// SPDX-License-Identifier: Apache-2.0
// The API of C: contexts, callbacks at returns, triggers.
#include "tests/firmware/selftest/in_c.h"
#include "tests/firmware/selftest/tracing.hpp"

// The first task's call returns while the second's is open.
SELFTEST("contexts.of_a_kernel_in_c") {
    static bool right;
    REQUIRE(only_traced(Recorder::graph, Sites::of(back_only)));
    const Recording recording = record([] { right = selftest_run_tasks_in_c(calls_back); });
    REQUIRE(right && recording.reads("cgcalls_back(cgcalls_back(cg)2cg)cg"));
    const auto context = [&](unsigned event) { return recording.events[event].argument; };
    REQUIRE(context(0) != 0 && context(3) != 0 && context(0) != context(3));
    REQUIRE(context(6) == context(0) && context(9) == context(3) && context(12) == 0);
    REQUIRE(selftest_end_tasks_in_c());
}

SELFTEST("returns.seen_in_c") {
    REQUIRE(nothing_traced() && selftest_see_returns_in_c(calls_back) == 2);
    REQUIRE(counters().enabled == 0);
}

SELFTEST("triggers.of_c") {
    static const void* const functions[] = {pointer(leaf), pointer(calls_back), pointer(sum_to)};
    static std::uint32_t sites;
    REQUIRE(only_traced(Recorder::graph, Sites::of(back_only)));
    const Recording recording = record([] { sites = selftest_stop_in_c(functions, calls_back); });
    REQUIRE(sites == 2 && recording.reads("calls_back()calls_back()"));
    REQUIRE(counters().enabled == 1);  // the recorder
}
