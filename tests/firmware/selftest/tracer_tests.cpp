// SPDX-License-Identifier: Apache-2.0
// The tracer on the machine itself. capture.hpp catches in memory what it sends.
#include "tests/firmware/selftest/tracing.hpp"

#include "nopscope/interrupts.hpp"
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

struct Expected {
    Kind kind;
    const void* function;  // for an entry or call
    unsigned closes;       // for a ret: the event it closes
    bool unwound = false;
};
constexpr Expected enters(const void* function) { return {Kind::entry, function, 0}; }
constexpr Expected returns(unsigned closes) { return {Kind::ret, nullptr, closes}; }
constexpr Expected unwinds(unsigned closes) { return {Kind::ret, nullptr, closes, true}; }

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

const void* const tail_only[] = {pointer(tail_calls_leaf)};
const void* const catching[] = {pointer(catches), pointer(throws)};
const Expected nested[] = {enters(pointer(calls_leaf)), enters(pointer(leaf)), returns(1),
                           returns(0)};
const Expected tail[] = {enters(pointer(tail_calls_leaf)), enters(pointer(leaf)), returns(1),
                         returns(0)};
// Four calls of throws are left. Unless longjmp tells the tracer, leaf's entry shows it.
const Expected longjmps[] = {enters(pointer(catches)),
                             enters(pointer(throws)),
                             enters(pointer(throws)),
                             enters(pointer(throws)),
                             enters(pointer(throws)),
                             unwinds(4),
                             unwinds(3),
                             unwinds(2),
                             unwinds(1),
                             enters(pointer(leaf)),
                             returns(9),
                             returns(0),
                             enters(pointer(calls_leaf)),
                             enters(pointer(leaf)),
                             returns(13),
                             returns(12)};
// leaf is entered with the SP of throws' entry. Only its return address shows that this is no tail
// call.
const Expected same_sp[] = {enters(pointer(catches)),
                            enters(pointer(throws)),
                            unwinds(1),
                            enters(pointer(leaf)),
                            returns(3),
                            returns(0)};

}  // namespace

SELFTEST("tracer.starts_with_the_compiled_in_filter") {
    REQUIRE(tracer_is_up());
    REQUIRE(counters().enabled == 1 && !is_idle(pointer(leaf)) && is_idle(pointer(calls_leaf)));
    const Recording recording = record(run_calls_leaf);
    const Expected expected[] = {{Kind::call, pointer(leaf), 0}};
    REQUIRE(result == 3 && recording.well_formed && matches(recording.events, expected));
    REQUIRE(is_ok(disable(Sites::all())));
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
    REQUIRE(is_ok(disable(Sites::all())) && counters().enabled == 0);
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
    const Address at = toggle_of(pointer(calls_leaf));
    constexpr std::uint32_t brk = 0xd4200000;
    machine.write_word(at, brk);
    const Status status = enable(Recorder::graph, Sites::of(both));
    machine.write_word(at, idle_word);
    REQUIRE(status == Status::unexpected_text && is_idle(pointer(leaf)));
    const auto [address, found, expected] = last_error();
    REQUIRE(address == at && found == brk && expected == idle_word);
}

// With longjmp as the C library has it, and with the one that tells the tracer: then the four end
// at one time, before the entry of leaf.
SELFTEST("tracer.calls_nest_and_longjmp_closes_what_it_skips") {
    const struct {
        std::span<const void* const> functions;
        void (*run)();
        std::uint64_t result;
        std::span<const Expected> expected;
        bool is_told;
    } cases[] = {
        {both, run_calls_leaf, 3, nested, false},
        {tail_only, run_tail_call, 3, tail, false},
        {catching, run_longjmp, 4 + 3, longjmps, false},
        {catching, run_longjmp, 4 + 3, longjmps, true},
        {catching, run_longjmp_to_the_same_sp, 1, same_sp, false},
        {catching, run_longjmp_to_the_same_sp, 1, same_sp, true},
    };
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(both))));  // leaf in all cases
    for (const auto& one : cases) {
        REQUIRE(is_ok(enable(Recorder::graph, Sites::of(one.functions))));
        leave = one.is_told ? __wrap_longjmp : std::longjmp;
        const Recording recording = record(one.run);
        leave = std::longjmp;
        REQUIRE(result == one.result && recording.well_formed && hooked_return_address(0) == 0);
        REQUIRE(matches(recording.events, one.expected));
        REQUIRE(recording.brackets == (one.is_told ? 2 : 0));
        for (unsigned i = 5; one.is_told && one.run == run_longjmp && i < 8; ++i)
            REQUIRE(recording.events[i].clock == recording.events[i + 1].clock);
    }
    REQUIRE(is_ok(disable(Sites::all())));
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
