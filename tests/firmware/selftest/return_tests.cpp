// SPDX-License-Identifier: Apache-2.0
// ReturnOps: callbacks at the end of a call, nested, and beside a recorder.
#include "tests/firmware/selftest/tracing.hpp"

#include <atomic>

namespace {

const void* const tails[] = {pointer(leaf), pointer(tail_calls_leaf)};

// What entry and exit callbacks saw, in order.
struct Seen {
    const ReturnOps* ops;
    std::uint64_t ip;
    std::uint64_t caller;  // parent_ip or the return address
    std::uint64_t value;   // x0
    std::uint64_t word;    // exits: the word that the entry stored
    bool is_exit;
};
Seen seen[64];
unsigned seen_count;

void note(const Seen& one) {
    if (seen_count < 64) seen[seen_count++] = one;
}
bool note_entry(std::uint64_t ip, std::uint64_t parent_ip, ReturnOps* ops, Regs* regs,
                CallData* data) {
    if (data->words[0] != 0 || data->words[1] != 0 || data->words[2] != 0) return false;
    data->words[2] = regs->x[0] + 100;
    note({ops, ip, parent_ip, regs->x[0], 0, false});
    return true;
}
void note_exit(std::uint64_t ip, std::uint64_t return_address, ReturnOps* ops, ReturnRegs* regs,
               CallData* data) {
    note({ops, ip, return_address, regs->x[0], data->words[2], true});
}
bool refuse(std::uint64_t, std::uint64_t, ReturnOps*, Regs*, CallData*) {
    ++seen_count;
    return false;
}
void add_thousand(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs* regs, CallData*) {
    regs->x[0] += 1000;
}
// Calls a traced function, and another that leaves calls by longjmp.
void call_traced(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*) {
    seen_count += leaf(1) == 2 && catches(2) == 3 ? 1 : 100;
}
// Leaves frames on the shadow stack, by longjmp to itself.
void abandon(std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*) {
    if (setjmp(caught) == 0) (void)throws(2);
    ++seen_count;
}
ReturnOps one(note_entry, note_exit);
ReturnOps two(note_entry, note_exit);
ReturnOps refusing(refuse, note_exit);
ReturnOps adding(nullptr, add_thousand);
ReturnOps calling(nullptr, call_traced);
ReturnOps abandoning(nullptr, abandon);

std::uint64_t result;
bool begin(const Sites& sites, std::initializer_list<Ops*> ops, Recorder recorder = {}) {
    seen_count = 0;
    return trace(sites, ops, recorder);
}

}  // namespace

SELFTEST("returns.entry_and_exit_are_seen") {
    REQUIRE(begin(Sites::of(both), {&one}));
    stop();
    REQUIRE(calls_leaf(41) == 43 && seen_count == 4);
    const Seen &in = seen[1], &out = seen[2];
    REQUIRE(!in.is_exit && in.ip == address(leaf) && in.value == 41 && is_in_calls_leaf(in.caller));
    REQUIRE(out.is_exit && out.ip == in.ip && out.caller == in.caller && out.value == 42);
    REQUIRE(out.word == 141 && seen[3].word == 141 && seen[3].value == 43);
    REQUIRE(seen[3].ip == address(calls_leaf) && seen[3].caller == seen[0].caller);
    REQUIRE(is_ok(detach(one)) && calls_leaf(1) == 3 && seen_count == 4);
}

SELFTEST("returns.an_entry_may_want_no_exit") {
    REQUIRE(begin(Sites::of(both), {&refusing}) && calls_leaf(1) == 3 && seen_count == 2);
}

SELFTEST("returns.an_exit_may_change_the_result") {
    REQUIRE(begin(Sites::of(both), {&adding}) && leaf(1) == 1002 && calls_leaf(1) == 2003);
}

SELFTEST("returns.several_nest_with_the_recorder") {
    REQUIRE(begin(Sites::of(both), {&one, &two}, Recorder::graph));
    const Recording recording = record([] { result = calls_leaf(1); });
    REQUIRE(result == 3 && recording.reads("calls_leaf(leaf())") && seen_count == 8);
    REQUIRE(popped_frames_are_free());
    const ReturnOps* const order[] = {&one, &two, &one, &two, &two, &one, &two, &one};
    for (unsigned i = 0; i < 8; ++i) {
        REQUIRE(seen[i].ops == order[i] && seen[i].is_exit == (i >= 4));
        REQUIRE(seen[i].ip == (i < 2 || i >= 6 ? address(calls_leaf) : address(leaf)));
        REQUIRE(seen[i].caller == seen[7 - i].caller && !is_return_hook(seen[i].caller));
    }
    REQUIRE(is_in_calls_leaf(seen[2].caller));
    // One is detached; the others stay.
    REQUIRE(is_ok(detach(one)) && calls_leaf(1) == 3 && seen_count == 12);
    REQUIRE(is_ok(disable(Sites::all())) && calls_leaf(1) == 3 && seen_count == 16);
}

SELFTEST("returns.tail_calls_nest") {
    REQUIRE(begin(Sites::of(tails), {&one, &two}, Recorder::graph));
    const Recording recording = record([] { result = tail_calls_leaf(1); });
    REQUIRE(result == 3 && recording.events.size() == 4 && seen_count == 8);
    for (unsigned i = 0; i < 8; ++i) {
        REQUIRE(seen[i].ops == seen[7 - i].ops && seen[i].ip == seen[7 - i].ip);
        REQUIRE(seen[i].caller == seen[0].caller && !is_return_hook(seen[i].caller));
    }
}

// catches(n) calls throws() n + 1 times, and leaf(). Calls left by longjmp have no exit callback.
SELFTEST("returns.longjmp_skips_exits") {
    for (const Recorder recorder : {Recorder::none, Recorder::graph}) {
        REQUIRE(begin(Sites::of(throwing), {&one}, recorder));
        for (unsigned depth = 0; depth < 4; ++depth) {
            seen_count = 0;
            REQUIRE(catches(depth) == depth + 1 && hooked_return_address(0) == 0);
            REQUIRE(seen_count == depth + 5);
            const Seen* const last = seen + seen_count - 2;
            REQUIRE(last[0].is_exit && last[0].ip == address(leaf) && last[0].word == depth + 100);
            REQUIRE(last[1].is_exit && last[1].ip == address(catches));
        }
    }
}

// longjmp lands with the SP of the call that it left. That call's frame must be removed.
SELFTEST("returns.longjmp_to_the_same_sp") {
    static const void* const often[] = {pointer(throws), pointer(catches_often)};
    REQUIRE(begin(Sites::of(often), {&counting_exits}));
    REQUIRE(catches_often(2 * NOPSCOPE_SHADOW_FRAMES) == 2 * NOPSCOPE_SHADOW_FRAMES);
    REQUIRE(grown(&Counters::shadow_stack_full) == 0 && exits == 1);
}

SELFTEST("returns.an_exit_may_leave_frames_behind") {
    REQUIRE(begin(Sites::of(leaf_only), {&abandoning}));
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(throwing))));
    const Recording recording = record([] { result = leaf(1); });
    REQUIRE(result == 2 && seen_count == 1 && recording.events.size() == 8);
    REQUIRE(recording.unwound() == 3);
}

SELFTEST("returns.too_deep_is_unhooked_and_counted") {
    REQUIRE(begin(Sites::of(sum_only), {&counting_exits}));
    REQUIRE(sum_to(600) == 600 * 601 / 2 && exits == NOPSCOPE_SHADOW_FRAMES);
    REQUIRE(grown(&Counters::shadow_stack_full) == 601 - NOPSCOPE_SHADOW_FRAMES);
}

SELFTEST("returns.an_exit_may_call_traced_functions") {
    REQUIRE(begin(Sites::of(leaf_only), {&calling}) && is_ok(attach(two, Sites::of(throwing))));
    REQUIRE(is_ok(enable(Recorder::graph, Sites::of(throwing))));
    REQUIRE(leaf(5) == 6 && hooked_return_address(0) == 0);
    // two's entry and exit of leaf(5), and the exit callback; calls inside that one are recursions.
    REQUIRE(seen_count == 3 && grown(&Counters::recursions) != 0);
}

SELFTEST("returns.detached_in_the_middle_of_a_call") {
    REQUIRE(begin(Sites::of(back_only), {&counting_exits, &one}));
    static bool done;
    calls_back([] { done = is_ok(detach(counting_exits)); });
    REQUIRE(done && exits == 0 && seen_count == 2 && seen[1].is_exit);
}

SELFTEST_OF_CORES("returns.detached_from_another_core") {
    static std::atomic<unsigned> inside;
    static std::atomic<bool> leave;
    REQUIRE(begin(Sites::of(back_only), {&counting_exits}));
    inside = 0;
    leave = false;
    on_other_cores([](unsigned) {
        if (joined_here()) {
            calls_back([] {
                ++inside;
                wait_for([] { return leave.load(); });
            });
        }
    });
    const auto others = static_cast<unsigned>(__builtin_popcount(other_cores()));
    REQUIRE(wait_for([&] { return inside == others; }));
    calls_back([] {});
    REQUIRE(exits == 1 && is_ok(detach(counting_exits)) && counters().enabled == 0);
    leave = true;
    REQUIRE(workers_done() && exits == 1);
}
