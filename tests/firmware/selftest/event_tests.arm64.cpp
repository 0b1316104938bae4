// SPDX-License-Identifier: Apache-2.0
// PMU events by function. The tests raise SW_INCR themselves, on both counters. The tracer refuses
// the same event twice, so the second event is CPU_CYCLES, and the tests replace it by SW_INCR.
#include "tests/firmware/selftest/tracing.hpp"

#include <atomic>
#include <csetjmp>

using protocol::EventRefusal;

namespace {

constexpr std::uint16_t two_events[] = {0x00, 0x11};
constexpr std::span<const std::uint16_t> one(two_events, 1), two(two_events, 2);

const void* const counted[] = {pointer(calls_back), pointer(jumps_back), pointer(sum_to),
                               pointer(leaf)};

// Raises `first` events on the first counter, `second` on the second one.
void raise(unsigned first, unsigned second) {
    for (; first != 0; --first) asm volatile("msr pmswinc_el0, %0" ::"r"(std::uint64_t{1}));
    for (; second != 0; --second) asm volatile("msr pmswinc_el0, %0" ::"r"(std::uint64_t{2}));
}
// Makes this core's second counter count SW_INCR.
void raise_second_counter_too() { asm volatile("msr pmevtyper1_el0, xzr\n\tisb"); }
Status count(std::span<const std::uint16_t> events) {
    const Status status = count_events(events);
    if (events.size() == 2) raise_second_counter_too();
    return status;
}
bool is_refused(Status status, EventRefusal why) {
    return status == Status::events_refused && events_refusal().why == why;
}
bool are_refused(std::initializer_list<std::uint16_t> events, EventRefusal why) {
    return is_refused(count_events({events.begin(), events.size()}), why);
}
bool begin(Recorder recorder, std::span<const std::uint16_t> events) {
    return nothing_traced() && is_ok(count(events)) && is_ok(enable(recorder, Sites::of(counted)));
}

SiteEvents charged(const void* function) {
    SiteEvents events{};
    (void)read_profile_events(index_of(function), 0, events);
    return events;
}
bool is(const SiteEvents& events, std::uint64_t calls, std::uint64_t total, std::uint64_t self,
        std::uint64_t second_total, std::uint64_t second_self) {
    return events.calls == calls && events.total[0] == total && events.self[0] == self &&
           events.total[1] == second_total && events.self[1] == second_self;
}

std::jmp_buf back;
void leap() {
    raise(7, 1);
    std::longjmp(back, 1);
}
// longjmp leaves two calls. The outer one has 2 more events. The call of leaf shows the unwinding.
void call_and_leap() {
    if (setjmp(back) == 0) {
        calls_back([] {
            raise(2, 0);
            calls_back(leap);
        });
    }
    (void)leaf(1);
}
constexpr unsigned sgi = 3;
void interrupt_while_open() {
    hal::set_handler(sgi, 8, [](unsigned) { calls_back([] { raise(100, 1); }); });
    calls_back([] {
        raise(5, 0);
        hal::enable_interrupts();
        hal::raise_interrupt(sgi);
        for (unsigned i = 0; i < 100; ++i) asm volatile("isb");
        hal::disable_interrupts();
        raise(5, 0);
    });
    hal::disable_interrupt(sgi);
}

}  // namespace

SELFTEST("events.what_cannot_be_counted_is_refused") {
    REQUIRE(nothing_traced());
    // L1D_CACHE_REFILL: QEMU counts none.
    REQUIRE(are_refused({0x00, 0x03}, EventRefusal::absent) && events_refusal().event == 3);
    REQUIRE(are_refused({0xc001}, EventRefusal::absent));
    REQUIRE(are_refused({0x11, 0x11}, EventRefusal::twice) && events_refusal().event == 0x11);
    REQUIRE(are_refused({0x00, 0x11, 0x08}, EventRefusal::too_many));
    REQUIRE(is_ok(enable(Recorder::function, Sites::of(back_only))));
    REQUIRE(is_refused(count_events(one), EventRefusal::recorder) && is_ok(count_events({})));
    REQUIRE(is_ok(disable(Sites::all())) && is_ok(count_events(one)));
    for (const Recorder recorder : {Recorder::function, Recorder::duration, Recorder::sampled}) {
        REQUIRE(is_refused(enable(recorder, Sites::of(back_only)), EventRefusal::recorder));
    }
    REQUIRE(is_refused(set_mode(Mode::adaptive), EventRefusal::mode) && counters().enabled == 0);
    REQUIRE(is_ok(count_events({})) && is_ok(enable(Recorder::sampled, Sites::of(back_only))));
}

SELFTEST("events.of_calls_that_longjmp_left") {
    REQUIRE(begin(Recorder::graph, two));
    REQUIRE(record(call_and_leap).reads("calls_back(calls_back(~<7 1>~<9 1>leaf()<0 0>"));
    REQUIRE(begin(Recorder::profile, two));
    (void)record(call_and_leap);
    REQUIRE(is(charged(pointer(calls_back)), 2, 7 + 9, 9, 2, 1) &&
            charged(pointer(leaf)).calls == 1);
}

SELFTEST("events.in_the_profile_of_an_interrupted_call") {
    REQUIRE(begin(Recorder::profile, two));
    (void)record(interrupt_while_open);
    // The total of the interrupted call includes the interrupt's events.
    REQUIRE(is(charged(pointer(calls_back)), 2, 100 + 110, 110, 2, 1));
}

SELFTEST("events.others_while_calls_are_open") {
    static const auto change = [] {
        raise(1, 0);
        (void)count(two);
        raise(1, 0);
        calls_back([] { raise(2, 3); });
    };
    REQUIRE(begin(Recorder::graph, one));
    const Recording recording = record([] { calls_back(change); });
    REQUIRE(recording.reads("calls_back(calls_back()<2 3>)"));
    REQUIRE(begin(Recorder::profile, one));
    (void)record([] { calls_back(change); });
    REQUIRE(is(charged(pointer(calls_back)), 1, 2, 2, 3, 3));
    // Between the recorders' variants with and without events: the enabled functions stay enabled.
    REQUIRE(is_ok(count_events({})) && counters().enabled == std::size(counted));
    calls_back([] { raise(5, 5); });
    REQUIRE(is_ok(count(two)) && is(charged(pointer(calls_back)), 0, 0, 0, 0, 0));
    calls_back([] { raise(5, 6); });
    REQUIRE(is(charged(pointer(calls_back)), 1, 5, 5, 6, 6));
}

SELFTEST("events.the_tracer_s_own_are_nobody_s") {
    REQUIRE(begin(Recorder::graph, one));
    on_line_byte([] { raise(1, 0); });
    const Recording recording = record([] {
        calls_back([] {
            raise(1, 0);
            pump_out();
            raise(1, 0);
        });
    });
    on_line_byte(nullptr);
    REQUIRE(recording.reads("calls_back()<2>"));
}

SELFTEST("events.of_another_context_are_its_own") {
    REQUIRE(begin(Recorder::graph, two) && other.create());
    const Recording recording = record([] {
        static Context& here = main_context();
        calls_back([] {
            raise(1, 0);
            (void)context_switch(other.context);
            raise(50, 60);
            calls_back([] { raise(4, 4); });
            (void)context_switch(here);
            raise(0, 1);
        });
    });
    REQUIRE(recording.reads("calls_back(ccalls_back()<4 4>c)<1 1>"));
}

SELFTEST("events.the_cycle_counter_goes_on") {
    REQUIRE(tracer_is_up());
    constexpr std::uint64_t cycle_counter = std::uint64_t{1} << 31;
    // The HAL has started the boot core's cycle counter.
    const std::uint64_t before = hal::cycles();
    REQUIRE(is_ok(count_events(two)) && is_ok(count_events({})));
    std::uint64_t counting;
    asm volatile("mrs %0, pmcntenset_el0" : "=r"(counting));
    const std::uint64_t after = hal::cycles();
    REQUIRE((counting & cycle_counter) != 0 && after > before);
}

// The events are changed though a core, its interrupts masked, takes no part in it. Later requests
// know which ops the functions have then.
SELFTEST_OF_CORES("events.change_though_a_core_does_not_come") {
    REQUIRE(begin(Recorder::graph, {}));
    static std::atomic<unsigned> masked;
    masked = 0;
    on_other_cores([](unsigned) {
        const hal::InterruptsMasked here;
        ++masked;
        wait_ticks(hal::clock_hz() * 5 / 2);  // a change waits for a core for less than that
    });
    const auto others = static_cast<unsigned>(__builtin_popcount(other_cores()));
    const bool all_masked = wait_for([&] { return masked == others; });
    const Status status = count(one);
    REQUIRE(workers_done() && all_masked && carried_out(status));
}
