// SPDX-License-Identifier: Apache-2.0
// The clock of the records: CNTVCT; in selftest-pmccntr.elf the PMU's cycle counter.
#include "tests/firmware/selftest/tracing.hpp"

namespace {

const void* const clocked[] = {pointer(leaf), pointer(sum_to)};
unsigned elsewhere = 0;

bool begin() { return only_traced(Recorder::function, Sites::of(clocked)); }

// Calls leaf here, sum_to on the other core, leaf here, one after the other.
void here_there_here() {
    (void)leaf(1);
    on_core(elsewhere, [](unsigned) {
        if (joined_here()) (void)sum_to(0);
    });
    (void)workers_done();
    (void)leaf(2);
}

}  // namespace

SELFTEST_OF_CORES("clock.cores_share_one_time_base") {
    REQUIRE(begin());
    REQUIRE(all_other_cores([](unsigned core) {
        elsewhere = core;
        const Recording recording = record(here_there_here);
        std::uint64_t before = 0, there = 0, after = 0;
        for (const protocol::Event& event : recording.events) {
            if (is_of(event, pointer(sum_to))) there = event.clock;
            if (is_of(event, pointer(leaf))) (before == 0 ? before : after) = event.clock;
        }
        return recording.events.size() == 3 && before <= there && there <= after;
    }));
}

SELFTEST("clock.runs_on_while_nobody_records") {
    REQUIRE(begin());
    static std::uint64_t waited;  // ticks of CNTVCT
    const Recording recording = record([] {
        (void)leaf(1);
        pump();
        waited = hal::clock();
        wait_ticks(hal::clock_hz() / 50);
        waited = hal::clock() - waited;
        (void)leaf(2);
    });
    REQUIRE(recording.events.size() == 2);
    const std::uint64_t between = recording.events[1].clock - recording.events[0].clock;
    // On every machine here PMU cycles are at least as fast as the counter.
    REQUIRE(between >= waited);
}
