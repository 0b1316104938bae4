// SPDX-License-Identifier: Apache-2.0
// Calls that recorders leave out: short ones, deep ones, those between two samples, and those
// outside of a subtree. Each is counted.
#include "tests/firmware/selftest/tracing.hpp"

namespace {

const void* const some[] = {pointer(leaf),      pointer(calls_leaf), pointer(tail_calls_leaf),
                            pointer(sum_to),    pointer(throws),     pointer(catches),
                            pointer(calls_back)};

bool begin(Recorder recorder) { return only_traced(recorder, Sites::of(some)); }
std::uint64_t filtered() { return grown(&Counters::filtered); }
std::uint64_t dropped() { return grown(&Counters::dropped); }

}  // namespace

SELFTEST("filters.a_duration_is_a_call_from_its_end") {
    REQUIRE(begin(Recorder::duration));
    const Recording recording = record([] {
        for (unsigned i = 0; i < 3; ++i) (void)calls_leaf(i);
    });
    REQUIRE(recording.reads("leaf/1calls_leaf/0leaf/1calls_leaf/0leaf/1calls_leaf/0"));
    std::uint64_t last = 0;
    for (unsigned i = 0; i < 18; i += 6) {  // a call has three events: also its site and ticks
        const protocol::Event* const inner = &recording.events[i];
        const protocol::Event* const outer = inner + 3;
        const std::uint64_t begin = outer->clock - outer[2].data;
        REQUIRE(last <= begin && begin <= inner->clock - inner[2].data);
        REQUIRE(inner[2].data <= inner->clock && inner->clock <= outer->clock);
        last = outer->clock;
    }
    REQUIRE(filtered() == 0);
}

// The record is made at the call's end. If the ring is full then, the call counts as dropped.
SELFTEST("filters.durations_find_the_ring_full") {
    REQUIRE(begin(Recorder::duration));
    static std::uint64_t calls, records;
    const Recording recording = record([] {
        shut_line(true);
        for (calls = 0; dropped() < 1000 && calls < 1000000; ++calls) (void)leaf(calls);
        records = 3 * (calls - dropped());
        // This call begins while the ring is full and ends when it has room.
        calls_back([] {
            shut_line(false);
            pump_out();
        });
    });
    REQUIRE(recording.well_formed && filtered() == 0 && dropped() >= 1000);
    REQUIRE(recording.events.size() == records + 3);
    const auto ends = [](const protocol::Event& event) { return is(event, Extended::duration); };
    const auto data = [](const protocol::Event& event) { return is(event, Extended::data); };
    REQUIRE(3 * recording.count(ends) == records + 3 &&
            recording.count(data) * 3 == 2 * (records + 3));
}

SELFTEST("filters.a_call_that_is_open_at_stop_has_its_duration") {
    REQUIRE(begin(Recorder::duration));
    const Recording recording = record([] {
        calls_back([] {
            stop();
            (void)leaf(1);
        });
        (void)leaf(2);
    });
    REQUIRE(recording.reads("calls_back/0") && filtered() == 0 && dropped() == 0);
}

SELFTEST("filters.no_deeper_than_that") {
    for (const Recorder recorder : {Recorder::graph, Recorder::duration}) {
        REQUIRE(begin(recorder));
        set_max_depth(3);
        const Recording recording = record([] { (void)sum_to(5); });
        REQUIRE(recording.events.size() == 3 * (recorder == Recorder::graph ? 2 : 3));
        REQUIRE(filtered() == 3 && grown(&Counters::shadow_stack_full) == 0);
        set_max_depth(0);
        REQUIRE(sum_to(5) == 15 && filtered() == 3);
    }
}

SELFTEST("filters.depth_is_the_recorders_only") {
    REQUIRE(begin(Recorder::profile));
    exits = 0;
    set_max_depth(1);
    const std::uint64_t before = profile_of(pointer(sum_to)).calls;
    REQUIRE(is_ok(attach(counting_exits, Sites::of(sum_only))) && sum_to(9) == 45 && exits == 10);
    REQUIRE(profile_of(pointer(sum_to)).calls == before + 10 && filtered() == 0);
    REQUIRE(grown(&Counters::shadow_stack_full) == 0);
}

SELFTEST("filters.each_context_has_its_depth") {
    REQUIRE(begin(Recorder::graph) && other.create());
    set_max_depth(2);
    const Recording recording = record([] {
        calls_back([] {
            (void)sum_to(2);  // one of three is recorded
            (void)context_switch(other.context);
            (void)sum_to(2);     // two of three
            set_max_depth(100);  // more than the context's frames
            (void)sum_to(9);     // eight of ten
            (void)context_switch(main_context());
            (void)sum_to(2);
        });
    });
    REQUIRE(filtered() == 2 + 1 && grown(&Counters::shadow_stack_full) == 2 &&
            recording.entries() == 1 + 1 + 2 + 8 + 3);
}

SELFTEST("filters.only_below") {
    REQUIRE(begin(Recorder::graph) && is_ok(trace_only_below(Sites::of(caller_only))));
    const Recording recording = record([] {
        (void)sum_to(3);
        (void)calls_leaf(1);
        (void)leaf(1);
        (void)calls_leaf(2);
    });
    REQUIRE(recording.reads("calls_leaf(leaf())calls_leaf(leaf())"));
    // Another set replaces it at once; then no set.
    REQUIRE(is_ok(trace_only_below(Sites::of(sum_only))));
    const Recording another = record([] {
        (void)calls_leaf(1);
        (void)sum_to(2);  // sum_to is below itself
    });
    REQUIRE(another.reads("sum_to(sum_to(sum_to()))") && is_ok(trace_everywhere()));
    REQUIRE(record([] { (void)calls_leaf(1); }).reads("calls_leaf(leaf())"));
}

SELFTEST("filters.each_context_has_its_subtree") {
    REQUIRE(begin(Recorder::graph) && is_ok(trace_only_below(Sites::of(back_only))));
    REQUIRE(other.create());
    const Recording recording = record([] {
        calls_back([] {
            (void)context_switch(other.context);
            (void)leaf(1);  // not in the subtree in this context
            (void)context_switch(main_context());
            (void)leaf(2);
        });
        (void)leaf(3);
    });
    REQUIRE(recording.entries() == 2);
}

SELFTEST_OF_CORES("filters.each_core_has_its_subtree") {
    static std::uint64_t generated;
    REQUIRE(begin(Recorder::graph));
    on_other_cores([](unsigned) { (void)joined_here(); });
    REQUIRE(workers_done() && is_ok(trace_only_below(Sites::of(caller_only))));
    generated = counters().generated;
    on_other_cores([](unsigned) {
        for (unsigned i = 0; i < 100; ++i) (void)sum_to(3);
    });
    REQUIRE(workers_done() && counters().generated == generated);
    on_other_cores([](unsigned) {
        for (unsigned i = 0; i < 100; ++i) (void)calls_leaf(i);
    });
    REQUIRE(workers_done());
    const auto others = static_cast<unsigned>(__builtin_popcount(other_cores()));
    REQUIRE(counters().generated == generated + others * 100 * 4 && is_ok(trace_everywhere()));
    on_other_cores([](unsigned) { (void)leaf(1); });
    REQUIRE(workers_done() && counters().generated == generated + others * (100 * 4 + 2));
}
