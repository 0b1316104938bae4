// SPDX-License-Identifier: Apache-2.0
// A firmware's own ops: callbacks, their sets on a site, and what they may do to a call.
#include "tests/firmware/selftest/tracing.hpp"

#include <cstring>

namespace {

// What the callbacks saw, in order.
struct Seen {
    std::uint64_t ip;
    std::uint64_t parent_ip;
    const Ops* ops;
    Regs regs;
};
Seen seen[64];
unsigned seen_count;

void note(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs) {
    if (seen_count < 64) seen[seen_count++] = {ip, parent_ip, ops, *regs};
}
void count(std::uint64_t, std::uint64_t, Ops* ops, Regs*) {
    ++*static_cast<std::uint64_t*>(ops->user);
}
void double_argument(std::uint64_t, std::uint64_t, Ops*, Regs* regs) { regs->x[0] *= 2; }
// A callback that calls a traced function.
void recur(std::uint64_t, std::uint64_t, Ops* ops, Regs*) {
    ++*static_cast<std::uint64_t*>(ops->user);
    (void)leaf(7);
}
std::uint64_t instead(std::uint64_t x) { return x + 1000; }
void redirect(std::uint64_t, std::uint64_t, Ops*, Regs* regs) { regs->pc = address(instead); }

volatile bool held, inside;
void hold(std::uint64_t, std::uint64_t, Ops*, Regs*) {
    inside = true;
    while (held) {
    }
}

std::uint64_t counts[2];
Ops noting{.func = note};
Ops noting_too{.func = note};
Ops counting{.func = count, .user = &counts[0]};
Ops noting_unguarded{.func = note, .flags = ops_unguarded};
Ops doubling{.func = double_argument};
Ops recurring{.func = recur, .user = &counts[1]};
Ops redirecting{.func = redirect, .flags = ops_redirects};
Ops holding{.func = hold};
Ops holding_unguarded{.func = hold, .flags = ops_unguarded};
Ops changing{.func = recur, .user = &counts[1], .flags = ops_unguarded};
Ops redirecting_too{.func = redirect, .flags = ops_redirects};

std::uint64_t result;

bool is_named(const void* function, const char* name) {
    char text[256];
    return site_name(index_of(function), text, sizeof text) == std::strlen(name) &&
           std::strcmp(text, name) == 0;
}
constexpr const char* leaf_name = "_ZN8nopscope8selftest4leafEm";

}  // namespace

SELFTEST("ops.a_callback_sees_the_call") {
    REQUIRE(trace(Sites::of(leaf_only), {&noting}) && noting.sites == 1);
    seen_count = 0;
    REQUIRE(calls_leaf(41) == 43 && seen_count == 1);
    const auto& [ip, parent_ip, ops, regs] = seen[0];
    REQUIRE(ops == &noting && ip == address(leaf) && is_in_calls_leaf(parent_ip));
    REQUIRE(regs.x[0] == 41 && regs.lr == parent_ip && regs.pc > ip && regs.pc <= ip + 12);
    const std::uint64_t here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    REQUIRE(regs.sp < here + 256 && regs.sp > here - 512);
    REQUIRE(is_ok(detach(noting)) && noting.sites == 0 && leaf(1) == 2 && seen_count == 1);
}

SELFTEST("ops.without_a_guard") {
    REQUIRE(trace(Sites::of(both), {&noting_unguarded}));
    seen_count = 0;
    REQUIRE(calls_leaf(41) == 43 && seen_count == 2);
    const auto& [ip, parent_ip, ops, regs] = seen[1];
    REQUIRE(ip == address(leaf) && is_in_calls_leaf(parent_ip));
    REQUIRE(regs.x[0] == 41 && regs.lr == parent_ip && regs.pc > ip);
    // With another ops on the site it is a normal member of the list; afterwards it is alone again.
    REQUIRE(is_ok(attach(doubling, Sites::of(leaf_only))) && ops_at(index_of(pointer(leaf))) == 2);
    REQUIRE(calls_leaf(1) == 4 && seen_count == 4);
    REQUIRE(is_ok(detach(doubling)) && calls_leaf(1) == 3 && seen_count == 6);
    // Calls from a guarded callback are stopped before a site's list, but not before this callback.
    counts[1] = 0;
    REQUIRE(is_ok(attach(recurring, Sites::of(caller_only))));
    REQUIRE(calls_leaf(1) == 3 && counts[1] == 1 && seen_count == 9);
    REQUIRE(is_ok(detach(recurring)) && is_ok(detach(noting_unguarded)));
    REQUIRE(calls_leaf(1) == 3 && seen_count == 9 && counters().enabled == 0);
}

SELFTEST("ops.several_are_called_in_order") {
    REQUIRE(trace(Sites::of(both), {&noting}) && is_ok(attach(counting, Sites::of(leaf_only))));
    seen_count = 0;
    counts[0] = 0;
    REQUIRE(is_ok(attach(noting_too, Sites::of(both))) && calls_leaf(1) == 3);
    const Ops* const order[] = {&noting, &noting_too, &noting, &noting_too};
    REQUIRE(seen_count == 4 && counts[0] == 1);
    for (unsigned i = 0; i < 4; ++i) REQUIRE(seen[i].ops == order[i]);
    // One is detached; the others stay.
    REQUIRE(is_ok(detach(noting)));
    REQUIRE(calls_leaf(1) == 3 && counts[0] == 2 && seen_count == 6);
    REQUIRE(is_ok(detach(counting)) && is_ok(detach(noting_too)));
    REQUIRE(calls_leaf(1) == 3 && counts[0] == 2 && seen_count == 6 && counters().enabled == 0);
}

SELFTEST("ops.a_filter_moves") {
    const Sites leaf_sites = Sites::of(leaf_only), caller_sites = Sites::of(caller_only);
    const struct {
        Sites sites;
        unsigned count, calls;
    } filters[] = {{leaf_sites, 1, 1},
                   {Sites::of(both), 2, 3},
                   {caller_sites, 1, 4},
                   {Sites::of(both).without(caller_sites), 1, 5},
                   {Sites::of(both).without(leaf_sites), 1, 6}};
    counts[0] = 0;
    for (const auto& one : filters) {
        REQUIRE(is_ok(set_filter(counting, one.sites)) && counting.sites == one.count);
        REQUIRE(calls_leaf(1) == 3 && counts[0] == one.calls);
    }
}

// Makes another core enter a callback of leaf(), calls `request`, and lets the core go. True: if
// there is such a core, the request timed out.
template <typename Request>
bool is_late(Request request) {
    const bool late = other_cores() != 0;
    inside = false;
    held = late;
    if (late) {
        on_core(static_cast<unsigned>(__builtin_ctz(other_cores())), [](unsigned) {
            if (joined_here()) (void)leaf(1);
        });
    }
    const bool is_inside = !late || wait_for([] { return inside; });
    const Status status = request();
    held = false;
    return workers_done() && is_inside && status == (late ? Status::timeout : Status::ok);
}

// A core that stays in a callback delays a request, but does not prevent it.
SELFTEST_OF_CORES("ops.a_filter_moves_though_a_core_is_late") {
    // With a list to free, the first of the filter's two changes waits, too.
    REQUIRE(trace(Sites::of(caller_only), {&noting, &counting}));
    REQUIRE(is_ok(attach(holding, Sites::of(leaf_only))));
    unsigned left = 1;
    bool synchronized = true;
    REQUIRE(is_late([&] {
        const Status moved = set_filter(holding, Sites::of(caller_only));
        left = ops_at(index_of(pointer(leaf)));
        synchronized = other_cores() == 0 || synchronize();
        return moved;
    }));
    REQUIRE(left == 0 && synchronized == (other_cores() == 0));
    REQUIRE(synchronize() && holding.sites == 1 && ops_at(index_of(pointer(calls_leaf))) == 3);
}

// The same in a callback without a guard.
SELFTEST_OF_CORES("ops.late_without_a_guard_is_seen") {
    REQUIRE(trace(Sites::of(leaf_only), {&holding_unguarded}));
    REQUIRE(is_late([] { return detach(holding_unguarded); }));
    REQUIRE(synchronize() && counters().enabled == 0);
}

// Like the middle of a change: the word is still that of an unguarded ops, but the ops is guarded.
SELFTEST("ops.others_take_the_guard_of_an_unguarded_word") {
    REQUIRE(trace(Sites::of(leaf_only), {&changing}));
    REQUIRE(is_ok(attach(recurring, Sites::of(caller_only))));
    changing.flags = 0;
    changing.unguarded = recurring.unguarded;
    counts[1] = 0;
    REQUIRE(leaf(1) == 2 && counts[1] == 1 && grown(&Counters::recursions) == 1);
    changing.flags = ops_unguarded;
    changing.unguarded = changing.func;
}

SELFTEST("ops.a_recorder_and_callbacks_share_a_site") {
    REQUIRE(trace(Sites::of(both), {&counting}, Recorder::graph));
    counts[0] = 0;
    const auto is_recorded = [] {
        return record([] { result = calls_leaf(1); }).reads("calls_leaf(leaf())") && result == 3;
    };
    REQUIRE(is_recorded() && counts[0] == 2);
    REQUIRE(is_ok(detach(counting)) && is_recorded() && counts[0] == 2);
}

SELFTEST("ops.a_callback_may_redirect_alone") {
    REQUIRE(trace(Sites::of(leaf_only), {&redirecting}));
    REQUIRE(leaf(1) == 1001 && calls_leaf(1) == 1002);
    REQUIRE(attach(redirecting_too, Sites::of(leaf_only)) == Status::conflict);
    REQUIRE(enable(Recorder::graph, Sites::of(both)) == Status::conflict);
    REQUIRE(counters().enabled == 1);  // a refused request changes nothing
    REQUIRE(is_ok(detach(redirecting)) && leaf(1) == 2);
}

SELFTEST("names.each_site_has_its_own") {
    REQUIRE(nothing_traced() && is_named(pointer(leaf), leaf_name));
    REQUIRE(is_named(pointer(calls_leaf), "_ZN8nopscope8selftest10calls_leafEm"));
    REQUIRE(is_named(pointer(std::strlen), "strlen"));
    char text[6] = "-----";
    REQUIRE(site_name(index_of(pointer(std::strlen)), text, 4) == 6 &&
            std::strcmp(text, "str") == 0);
    REQUIRE(text[4] == '-');
    REQUIRE(site_name(site_count(), text, 4) == 0 && text[0] == 0);
    unsigned named = 0;
    for (std::uint32_t i = 0; i < site_count(); ++i) named += site_name(i, nullptr, 0) != 0;
    REQUIRE(named >= site_count() - 3);  // a bad entry may be at no symbol
}

SELFTEST("names.an_ops_is_attached_by_name") {
    counts[0] = 0;
    REQUIRE(is_ok(attach(counting, Sites::named(leaf_name))) && counting.sites == 1);
    REQUIRE(calls_leaf(1) == 3 && counts[0] == 1);
    REQUIRE(is_ok(set_filter(counting, Sites::named("_ZN8nopscope8selftest*leafEm"))));
    REQUIRE(counting.sites == 3 && counters().enabled == 3);  // leaf, calls_leaf, tail_calls_leaf
    REQUIRE(calls_leaf(1) == 3 && tail_calls_leaf(1) == 3 && counts[0] == 5);
    REQUIRE(is_ok(detach(counting, Sites::named("*tail_calls_leaf*"))) && counting.sites == 2);
    REQUIRE(set_filter(counting, Sites::named("")) == Status::unknown_function);
}
