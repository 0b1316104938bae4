// SPDX-License-Identifier: Apache-2.0
// The tracer on the machine itself. capture.hpp catches in memory what it sends.
#include "tests/firmware/selftest/tracing.hpp"

#include "nopscope/interrupts.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tracer/arch/patch_site.hpp"

using arch::idle_word;

namespace {

const Machine machine;

Address toggle_of(const void* function) {
    return patch_site(machine, reinterpret_cast<std::uintptr_t>(function)).toggle();
}
bool is_idle(const void* function) { return machine.read_word(toggle_of(function)) == idle_word; }

std::uint64_t result;
void run_calls_leaf() { result = calls_leaf(1); }
void run_tail_call() { result = tail_calls_leaf(1); }
void run_longjmp() { result = catches(3) + calls_leaf(1); }
void run_longjmp_to_the_same_sp() { result = catches(0); }

const void* const tail_only[] = {pointer(tail_calls_leaf)};

}  // namespace

SELFTEST("tracer.starts_with_the_compiled_in_filter") {
    REQUIRE(tracer_is_up());
    REQUIRE(counters().enabled == 1 && !is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)));
    const Recording recording = record(run_calls_leaf);
    REQUIRE(result == 3 && recording.reads("leaf") && nothing_traced());
}

SELFTEST("tracer.refuses_bad_sites_and_counts_why") {
    const Counters now = counters();
    REQUIRE(now.sites > 100 && now.duplicates == 2 && now.enabled == 0);
    REQUIRE(now.refused_misaligned == 1 && now.refused_words == 1 && now.refused_outside == 1);
    unsigned refused = 0, all = 0, traced = 0;
    for_each_site([&](std::uint32_t i, const SiteInfo& one) {
        all += one.address == site(i).address;
        if (one.usable) return;
        ++refused;
        traced += ops_at(i);
    });
    REQUIRE(refused == 3 && all == site_count() && traced == 0);
    const auto index = lookup(hal::address_of(pointer(leaf)));
    REQUIRE(index && site(*index).usable && !lookup(hal::address_of(pointer(leaf)) + 4));
}

SELFTEST("tracer.init_works_once") { REQUIRE(init({}) == Status::already_initialised); }

SELFTEST("tracer.enables_and_disables_what_it_is_told") {
    REQUIRE(is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)));
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(leaf_only))));
    REQUIRE(!is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)) && counters().enabled == 1);
    REQUIRE(is_ok(disable(Sites::of(leaf_only))));
    REQUIRE(is_idle(pointer(leaf)) && counters().enabled == 0);
    REQUIRE(is_ok(enable(Recorder::function, Sites::range(0, 10))));
    REQUIRE(counters().enabled > 0 && counters().enabled <= 10);
}

SELFTEST("tracer.refuses_as_a_whole_what_is_no_site_and_a_word_it_did_not_write") {
    const void* const functions[] = {pointer(leaf), static_cast<const char*>(pointer(leaf)) + 4};
    REQUIRE(enable(Recorder::graph, Sites::of(functions)) == Status::unknown_function);
    REQUIRE(is_idle(pointer(leaf)));
    const Address at = toggle_of(pointer(calls_leaf));
    machine.write_word(at, breakpoint_word);
    const Status status = enable(Recorder::graph, Sites::of(both));
    machine.write_word(at, idle_word);
    REQUIRE(status == Status::unexpected_text && is_idle(pointer(leaf)));
    const auto [address, found, expected] = last_error();
    REQUIRE(address == at && found == breakpoint_word && expected == idle_word);
}

// With longjmp as the C library has it, and with the one that tells the tracer: then the four end
// at one time, before the entry of leaf.
SELFTEST("tracer.calls_nest_and_longjmp_closes_what_it_skips") {
    // Four calls of throws are left. Unless longjmp tells the tracer, leaf's entry shows it.
    constexpr const char* longjmps =
        "catches(throws(throws(throws(throws(~~~~leaf())calls_leaf(leaf())";
    const struct {
        std::span<const void* const> functions;
        void (*run)();
        std::uint64_t result;
        const char* expected;
        bool is_told;
    } cases[] = {
        {both, run_calls_leaf, 3, "calls_leaf(leaf())", false},
        {tail_only, run_tail_call, 3, "tail_calls_leaf(leaf())", false},
        {throwing, run_longjmp, 4 + 3, longjmps, false},
        {throwing, run_longjmp, 4 + 3, longjmps, true},
        // leaf is entered with the SP of throws' entry. Only its return address shows that this is
        // no tail call.
        {throwing, run_longjmp_to_the_same_sp, 1, "catches(throws(~leaf())", false},
        {throwing, run_longjmp_to_the_same_sp, 1, "catches(throws(~leaf())", true},
    };
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(both))));  // leaf in all cases
    for (const auto& one : cases) {
        REQUIRE(is_ok(enable(Recorder::graph, Sites::of(one.functions))));
        leave = one.is_told ? __wrap_longjmp : std::longjmp;
        const Recording recording = record(one.run);
        leave = std::longjmp;
        REQUIRE(result == one.result && hooked_return_address(0) == 0);
        REQUIRE(recording.reads(one.expected) && recording.brackets == (one.is_told ? 2 : 0));
        for (std::size_t i = 1; i < recording.events.size(); ++i)
            REQUIRE(recording.events[i].clock >= recording.events[i - 1].clock);
        for (unsigned i = 5; one.is_told && one.run == run_longjmp && i < 8; ++i)
            REQUIRE(recording.events[i].clock == recording.events[i + 1].clock);
    }
}

// An interrupt may come just before the next call makes room.
SELFTEST("tracer.an_interrupt_has_room_where_calls_have_none") {
    static std::uint64_t begun;
    REQUIRE(is_ok(set_mode(Mode::lossless)));
    const Recording recording = record([] {
        shut_line(true);
        fill_ring();
        begun = interrupt_begin(3);
        interrupt_end(begun);
        shut_line(false);
    });
    REQUIRE(is_ok(set_mode(Mode::stream)) && recording.well_formed && begun != 0);
}

SELFTEST("tracer.finish_accounts_for_everything") {
    const Recording recording = record(finish);
    REQUIRE(recording.well_formed && recording.stats.final == 1);
    REQUIRE(recording.stats.dropped == counters().dropped);
    REQUIRE(recording.stats.generated == recording.stats.delivered + recording.stats.dropped);
}
