// SPDX-License-Identifier: Apache-2.0
// Triggers and marks.
#include "tests/firmware/selftest/tracing.hpp"

#define WHOLE "calls_leaf(leaf())"
#define MARKED "calls_leaf(m77leaf())"

namespace {

bool begin(Trigger& trigger) {
    return only_traced(Recorder::graph, Sites::of(both)) &&
           is_ok(attach(trigger, Sites::of(leaf_only)));
}
void run_five() {
    for (unsigned i = 0; i < 5; ++i) (void)calls_leaf(i);
}

}  // namespace

// The third call of leaf, without its caller's; then two whole calls.
SELFTEST("triggers.start_has_the_call") {
    static Trigger trigger(Action::start, 3);
    REQUIRE(begin(trigger));
    const Recording recording = record([] {
        stop();
        run_five();
    });
    REQUIRE(recording.reads("leaf()" WHOLE WHOLE) && trigger.has_acted());
}

SELFTEST("triggers.stop_does_not") {
    static Trigger trigger(Action::stop, 2);
    REQUIRE(begin(trigger));
    const Recording recording = record(run_five);
    REQUIRE(recording.reads(WHOLE "calls_leaf()"));
}

SELFTEST("triggers.snapshot_marks_and_can_be_armed_again") {
    static Trigger trigger(Action::snapshot, 2, 77);
    REQUIRE(begin(trigger));
    const Recording recording = record([] {
        run_five();
        trigger.arm(5);
        run_five();
    });
    REQUIRE(recording.reads(WHOLE MARKED WHOLE WHOLE WHOLE WHOLE WHOLE WHOLE WHOLE MARKED));
    // It also acts while recording is stopped.
    trigger.arm(1);
    stop();
    const Recording stopped = record([] {
        run_five();
        start();
        mark(0x3ffffff);
    });
    REQUIRE(stopped.reads("m77m33554431"));
}

SELFTEST_OF_CORES("triggers.all_cores_count_together") {
    static Trigger trigger(Action::snapshot, 0, 5);
    REQUIRE(begin(trigger));
    trigger.arm(static_cast<unsigned>(__builtin_popcount(hal::online_cores())) * 1000);
    const Recording recording = record([] {
        stop();
        on_other_cores([](unsigned) {
            if (joined_here())
                for (unsigned i = 0; i < 1000; ++i) (void)leaf(i);
        });
        for (unsigned i = 0; i < 1000; ++i) (void)leaf(i);
        (void)workers_done();
    });
    REQUIRE(trigger.has_acted() && recording.reads("m5"));
}
