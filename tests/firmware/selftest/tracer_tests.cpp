// SPDX-License-Identifier: Apache-2.0
// The tracer on the machine itself. capture.hpp catches in memory what it sends.
#include "nopscope/interrupts.hpp"
#include "nopscope/triggers.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/traced.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/core/cores.hpp"

using namespace nopscope;
using namespace nopscope::selftest;
using arch::idle_word;
using protocol::Kind;

namespace {

using Function = std::uint64_t (*)(std::uint64_t);

std::uint32_t toggle_word(const void* function) {
    Machine machine;
    return machine.read_word(
        patch_site(machine, reinterpret_cast<std::uintptr_t>(function)).toggle());
}
bool is_idle(const void* function) { return toggle_word(function) == idle_word; }

std::uint64_t result;
void run_calls_leaf() { result = calls_leaf(1); }
void run_tail_call() { result = tail_calls_leaf(1); }
void run_longjmp() { result = catches(3) + calls_leaf(1); }
void run_longjmp_to_the_same_sp() { result = catches(0); }
void run_too_deep() { result = sum_to(600); }
void run_on_another_stack() {
    alignas(16) static std::uint8_t stack[1024];
    result =
        selftest_call_on_stack(leaf, 1, reinterpret_cast<std::uintptr_t>(stack + sizeof stack));
}
void run_many() {
    result = 0;
    for (int i = 0; i < 100'000; ++i) result += leaf(1);
}

struct Expected {
    Kind kind;
    const void* function;  // for an entry or call
    unsigned closes;       // for a ret: the event it closes
    bool unwound = false;
};
bool matches(std::span<const protocol::Event> events, std::span<const Expected> expected) {
    if (events.size() != expected.size()) return false;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const protocol::Event& event = events[i];
        if (event.kind != expected[i].kind || event.unwound != expected[i].unwound) return false;
        if (i > 0 && event.clock < events[i - 1].clock) return false;
        if (event.kind != Kind::ret) {
            if (!is_of(event, expected[i].function)) return false;
        } else if (event.entry_index !=
                   (events[expected[i].closes].index & protocol::entry_index_mask)) {
            return false;
        }
    }
    return true;
}

}  // namespace

SELFTEST("tracer.starts_with_the_compiled_in_filter") {
    REQUIRE(tracer_is_up());
    REQUIRE(counters().enabled == 1 && !is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)));
    const Recording recording = record(run_calls_leaf);
    const Expected expected[] = {{Kind::call, pointer(leaf), 0}};
    REQUIRE(result == 3 && recording.well_formed);
    REQUIRE(matches(recording.events, expected));
    REQUIRE(disable(Sites::all()) == Status::ok);
}

SELFTEST("tracer.refuses_bad_sites_and_counts_why") {
    REQUIRE(tracer_is_up());
    const Counters now = counters();
    REQUIRE(now.sites > 100);
    REQUIRE(now.refused_misaligned == 1);
    REQUIRE(now.refused_words == 1);
    REQUIRE(now.refused_outside == 1);
    REQUIRE(now.duplicates == 2);
    REQUIRE(now.enabled == 0);
}

SELFTEST("tracer.init_works_once") { REQUIRE(init({}) == Status::already_initialised); }

SELFTEST("tracer.enables_and_disables_what_it_is_told") {
    REQUIRE(is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)));
    REQUIRE(enable(Recorder::graph, Sites::of(leaf_only)) == Status::ok);
    REQUIRE(!is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)) && counters().enabled == 1);
    REQUIRE(disable(Sites::of(leaf_only)) == Status::ok);
    REQUIRE(is_idle(pointer(leaf)) && counters().enabled == 0);
    REQUIRE(enable(Recorder::function, Sites::range(0, 10)) == Status::ok);
    REQUIRE(counters().enabled > 0 && counters().enabled <= 10);
    REQUIRE(disable(Sites::all()) == Status::ok);
    REQUIRE(counters().enabled == 0);
}

SELFTEST("tracer.refuses_what_is_no_site_as_a_whole") {
    for (const char* bad : {selftest_bad_misaligned, selftest_bad_words, selftest_bad_outside,
                            reinterpret_cast<const char*>(pointer(leaf)) + 4}) {
        const void* const functions[] = {pointer(leaf), bad};
        REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::unknown_function);
        REQUIRE(is_idle(pointer(leaf)));
    }
}

SELFTEST("tracer.refuses_a_word_it_did_not_write_as_a_whole") {
    Machine machine;
    const Address at =
        patch_site(machine, reinterpret_cast<std::uintptr_t>(pointer(calls_leaf))).toggle();
    constexpr std::uint32_t brk = 0xd4200000;
    machine.write_word(at, brk);
    const Status status = enable(Recorder::graph, Sites::of(both));
    machine.write_word(at, idle_word);
    REQUIRE(status == Status::unexpected_text);
    REQUIRE(last_error().address == at && last_error().found == brk);
    REQUIRE(last_error().expected == idle_word);
    REQUIRE(is_idle(pointer(leaf)));
}

SELFTEST("tracer.function_recorder_records_calls") {
    REQUIRE(enable(Recorder::function, Sites::of(both)) == Status::ok);
    const Recording recording = record(run_calls_leaf);
    const Expected expected[] = {{Kind::call, pointer(calls_leaf), 0},
                                 {Kind::call, pointer(leaf), 0}};
    REQUIRE(result == 3 && recording.well_formed);
    REQUIRE(matches(recording.events, expected));
}

SELFTEST("tracer.graph_recorder_pairs_entries_and_returns") {
    REQUIRE(enable(Recorder::graph, Sites::of(both)) == Status::ok);  // replaces `function`
    const Recording recording = record(run_calls_leaf);
    const Expected expected[] = {{Kind::entry, pointer(calls_leaf), 0},
                                 {Kind::entry, pointer(leaf), 0},
                                 {Kind::ret, nullptr, 1},
                                 {Kind::ret, nullptr, 0}};
    REQUIRE(result == 3 && recording.well_formed);
    REQUIRE(matches(recording.events, expected));
    REQUIRE(hooked_return_address(0) == 0);
}

SELFTEST("tracer.tail_calls_nest") {
    const void* const functions[] = {pointer(tail_calls_leaf)};
    REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::ok);
    const Recording recording = record(run_tail_call);
    const Expected expected[] = {{Kind::entry, pointer(tail_calls_leaf), 0},
                                 {Kind::entry, pointer(leaf), 0},
                                 {Kind::ret, nullptr, 1},
                                 {Kind::ret, nullptr, 0}};
    REQUIRE(result == 3 && recording.well_formed);
    REQUIRE(matches(recording.events, expected));
}

// Four calls of throws are left. Unless longjmp tells the tracer, leaf's entry shows it.
const Expected longjmps[] = {{Kind::entry, pointer(catches), 0},
                             {Kind::entry, pointer(throws), 0},
                             {Kind::entry, pointer(throws), 0},
                             {Kind::entry, pointer(throws), 0},
                             {Kind::entry, pointer(throws), 0},
                             {Kind::ret, nullptr, 4, true},
                             {Kind::ret, nullptr, 3, true},
                             {Kind::ret, nullptr, 2, true},
                             {Kind::ret, nullptr, 1, true},
                             {Kind::entry, pointer(leaf), 0},
                             {Kind::ret, nullptr, 9},
                             {Kind::ret, nullptr, 0},
                             {Kind::entry, pointer(calls_leaf), 0},
                             {Kind::entry, pointer(leaf), 0},
                             {Kind::ret, nullptr, 13},
                             {Kind::ret, nullptr, 12}};
SELFTEST("tracer.longjmp_closes_what_it_skips") {
    const void* const functions[] = {pointer(catches), pointer(throws)};
    REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::ok);
    const Recording recording = record(run_longjmp);
    REQUIRE(result == 4 + 3 && recording.well_formed);
    REQUIRE(matches(recording.events, longjmps));
    REQUIRE(recording.brackets == 0);
    REQUIRE(hooked_return_address(0) == 0);
}

// The same, but longjmp tells the tracer: all four end then, before the entry of leaf.
SELFTEST("tracer.longjmp_is_told") {
    const void* const functions[] = {pointer(catches), pointer(throws)};
    REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::ok);
    leave = __wrap_longjmp;
    const Recording recording = record(run_longjmp);
    leave = std::longjmp;
    REQUIRE(result == 4 + 3 && recording.well_formed);
    REQUIRE(matches(recording.events, longjmps));
    REQUIRE(recording.brackets == 2);
    for (unsigned i = 5; i < 8; ++i)
        REQUIRE(recording.events[i].clock == recording.events[i + 1].clock);
    REQUIRE(hooked_return_address(0) == 0);
}
// catches(0): longjmp goes to the stack pointer of the call that it leaves.
SELFTEST("tracer.longjmp_to_the_same_sp_is_told") {
    leave = __wrap_longjmp;
    const Recording recording = record(run_longjmp_to_the_same_sp);
    leave = std::longjmp;
    REQUIRE(result == 1 && recording.well_formed && recording.brackets == 2);
}
// leaf is entered with the SP of throws' entry. Only its return address shows that this is no tail
// call.
SELFTEST("tracer.longjmp_to_the_same_sp") {
    const Recording recording = record(run_longjmp_to_the_same_sp);
    REQUIRE(result == 1 && recording.well_formed);
    const Expected expected[] = {{Kind::entry, pointer(catches), 0},
                                 {Kind::entry, pointer(throws), 0},
                                 {Kind::ret, nullptr, 1, true},
                                 {Kind::entry, pointer(leaf), 0},
                                 {Kind::ret, nullptr, 3},
                                 {Kind::ret, nullptr, 0}};
    REQUIRE(matches(recording.events, expected));
}

SELFTEST("tracer.too_deep_is_unhooked_and_counted") {
    const void* const functions[] = {pointer(sum_to)};
    REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::ok);
    const std::uint64_t before = counters().shadow_stack_full;
    const Recording recording = record(run_too_deep);
    REQUIRE(result == 600 * 601 / 2 && recording.well_formed);
    const std::uint64_t shadow_stack_full = counters().shadow_stack_full - before;
    REQUIRE(shadow_stack_full == 601 - NOPSCOPE_SHADOW_FRAMES);
    REQUIRE(recording.events.size() == 2 * NOPSCOPE_SHADOW_FRAMES);
}

SELFTEST("tracer.another_stack_is_unhooked_and_counted") {
    const std::uint64_t before = counters().off_stack;
    const Recording recording = record(run_on_another_stack);
    REQUIRE(result == 2 && counters().off_stack == before + 1);
    REQUIRE(recording.events.empty());
}

SELFTEST("tracer.stopped_records_nothing") {
    stop();
    const Recording nothing = record(run_calls_leaf);
    start();
    REQUIRE(result == 3 && nothing.events.empty());
    REQUIRE(record(run_calls_leaf).events.size() == 4);
    REQUIRE(counters().dropped == 0);
}

SELFTEST("tracer.a_full_ring_drops_and_counts_exactly") {
    const std::uint64_t before = counters().generated;
    shut_line(true);
    run_many();
    shut_line(false);
    REQUIRE(result == 200'000);
    const Counters now = counters();
    REQUIRE(now.dropped > 0);
    // A dropped entry is one event; a recorded one has a return, too: 200,000 less the dropped
    // ones. The pump may continue a frame of an earlier test; it adds nothing meanwhile.
    REQUIRE(now.generated - before == 200'000 - now.dropped);
    const Recording rest = record([] {});
    REQUIRE(rest.well_formed);
    REQUIRE(disable(Sites::all()) == Status::ok);
}

// An interrupt may come just before the next call makes room.
SELFTEST("tracer.an_interrupt_has_room_where_calls_have_none") {
    static std::uint64_t begun;
    REQUIRE(set_mode(Mode::lossless) == Status::ok);
    const Recording recording = record([] {
        shut_line(true);
        const Core& core = core_states[hal::this_core()];
        while (__atomic_load_n(&core.cursor, __ATOMIC_RELAXED) < core.limit) mark(1);
        begun = interrupt_begin(3);
        interrupt_end(begun);
        shut_line(false);
    });
    REQUIRE(set_mode(Mode::stream) == Status::ok);
    REQUIRE(recording.well_formed && begun != 0);
}

SELFTEST("tracer.finish_accounts_for_everything") {
    const Recording recording = record(finish);
    REQUIRE(recording.well_formed && recording.stats.final == 1);
    REQUIRE(recording.stats.dropped == counters().dropped);
    REQUIRE(recording.stats.generated == recording.stats.delivered + recording.stats.dropped);
}
