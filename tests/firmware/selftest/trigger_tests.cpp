// SPDX-License-Identifier: Apache-2.0
// Triggers and marks.
#include "tests/firmware/selftest/tracing.hpp"

namespace {

bool begin(Trigger& trigger) {
    return only_traced(Recorder::graph, Sites::of(both)) &&
           is_ok(attach(trigger, Sites::of(leaf_only)));
}
bool ended(Trigger& trigger) { return is_ok(detach(trigger)) && nothing_left(); }
void run_five() {
    for (unsigned i = 0; i < 5; ++i) (void)calls_leaf(i);
}
bool is_mark(const protocol::Event& event, std::uint32_t id) {
    return is(event, Extended::marker) && event.argument == id;
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
    REQUIRE(recording.events.size() == 2 + 2 * 4 && is_of(recording.events[0], leaf_only[0]));
    REQUIRE(trigger.has_acted() && ended(trigger));
}

SELFTEST("triggers.stop_does_not") {
    static Trigger trigger(Action::stop, 2);
    REQUIRE(begin(trigger));
    const Recording recording = record(run_five);
    REQUIRE(recording.events.size() == 4 + 2 && is_of(recording.events[4], both[1]));
    REQUIRE(recording.events[5].kind == Kind::ret && ended(trigger));
}

SELFTEST("triggers.snapshot_marks_and_can_be_armed_again") {
    static Trigger trigger(Action::snapshot, 2, 77);
    REQUIRE(begin(trigger));
    const Recording recording = record([] {
        run_five();
        trigger.arm(5);
        run_five();
    });
    REQUIRE(recording.events.size() == 10 * 4 + 2);
    REQUIRE(is_mark(recording.events[4 + 1], 77) && is_mark(recording.events[9 * 4 + 1 + 1], 77));
    // It also acts while recording is stopped.
    trigger.arm(1);
    stop();
    const Recording stopped = record([] {
        run_five();
        start();
        mark(0x3ffffff);
    });
    REQUIRE(stopped.events.size() == 2 && is_mark(stopped.events[0], 77) && ended(trigger));
    REQUIRE(is_mark(stopped.events[1], 0x1ffffff));
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
    const auto marks = [](const protocol::Event& event) { return is_mark(event, 5); };
    REQUIRE(trigger.has_acted() && recording.count(marks) == 1 && ended(trigger));
}
