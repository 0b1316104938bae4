// SPDX-License-Identifier: Apache-2.0
#include "firmware/bench/strategies.hpp"

#include "firmware/bench/dynamic.hpp"
#include "firmware/bench/functions.hpp"
#include "firmware/bench/list.hpp"
#include "nopscope/nopscope.hpp"

namespace bench {

namespace {

using nopscope::Ops;
using nopscope::Sites;
using nopscope::Status;

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

// By index: a search would take a time that depends on the rest of the image.
Sites site_of(BenchFunction function) { return Sites::range(index_of(function), 1); }

const char* attach(Ops& ops, BenchFunction function) {
    const Status status = nopscope::attach(ops, site_of(function));
    return status == Status::ok ? nullptr : nopscope::describe(status);
}

void detach(Ops& ops, BenchFunction function) {
    const Status status = nopscope::detach(ops, site_of(function));
    need(status == Status::ok, nopscope::describe(status));
}

// ---- list ----

const char* list_add(unsigned number, BenchFunction function) {
    unsigned first;
    const bool traced_already = list_tracing(function, first) != 0;
    list_register(number, function);
    if (traced_already) return nullptr;
    const char* const wrong = attach(list_ops, function);
    if (wrong != nullptr) list_unregister(number);
    return wrong;
}

void list_remove(unsigned number, BenchFunction function) {
    list_unregister(number);
    unsigned first;
    if (list_tracing(function, first) == 0) detach(list_ops, function);
}

// ---- call_ops ----

Ops callbacks[max_ops];

const char* call_ops_add(unsigned number, BenchFunction function) {
    callbacks[number].func = reinterpret_cast<nopscope::Callback>(bench_empty_callback);
    return attach(callbacks[number], function);
}

void call_ops_remove(unsigned number, BenchFunction function) {
    detach(callbacks[number], function);
}

#ifndef __riscv  // where a site cannot call a trampoline that is made at run time
// ---- dynamic ----
//
// The tracer allows one direct entry a site. So a change from a trampoline to the list, or back,
// takes two requests here instead of one: these figures are upper bounds.

Ops trampolines[max_ops];

const char* to_own_trampoline(unsigned number, BenchFunction function) {
    Ops& ops = trampolines[number];
    ops.direct = make_dynamic(number, address_of(&ops),
                              reinterpret_cast<std::uintptr_t>(bench_empty_callback));
    return attach(ops, function);
}

const char* dynamic_add(unsigned number, BenchFunction function) {
    unsigned first;
    const unsigned before = list_tracing(function, first);
    const char* wrong = nullptr;
    if (before == 0) wrong = to_own_trampoline(number, function);
    if (before == 1) {
        wrong = attach(list_ops, function);
        if (wrong == nullptr) detach(trampolines[first], function);
    }
    if (wrong == nullptr) list_register(number, function);
    return wrong;
}

void dynamic_remove(unsigned number, BenchFunction function) {
    list_unregister(number);
    unsigned first;
    const unsigned after = list_tracing(function, first);
    if (after == 0) detach(trampolines[number], function);
    if (after == 1) {
        need(to_own_trampoline(first, function) == nullptr, "bench: no way back from the list");
        detach(list_ops, function);
    }
}
#endif

// ---- direct ----

Ops directs[max_ops];

const char* direct_add(unsigned number, BenchFunction function) {
    directs[number].direct = address_of(bench_empty_direct);
    return attach(directs[number], function);
}

void direct_remove(unsigned number, BenchFunction function) { detach(directs[number], function); }

constinit const Strategy all_strategies[] = {
    {"list", list_add, list_remove, max_ops},
    {"call_ops", call_ops_add, call_ops_remove, max_ops},
#ifndef __riscv
    {"dynamic", dynamic_add, dynamic_remove, max_ops},
#endif
    {"direct", direct_add, direct_remove, 1},
};

}  // namespace

constinit const std::span<const Strategy> strategies = all_strategies;

}  // namespace bench
