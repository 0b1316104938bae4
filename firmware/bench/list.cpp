// SPDX-License-Identifier: Apache-2.0
// One list of all ops, walked at each call. A filter is a hash with chained buckets, like Linux's.
// Each filter here has one function and one bucket, so its cost does not depend on where the linker
// puts the functions. Linux's filter costs 39 instructions (docs/bench.md).
#include "firmware/bench/list.hpp"

namespace bench {

namespace {

struct Entry {
    std::uint64_t function;
    const Entry* next;
};

struct Filter {
    std::uint64_t mask;  // buckets - 1
    const Entry* const* buckets;

    bool has(std::uint64_t function) const {
        const std::uint64_t hash = (function >> 3) * 0x9e3779b97f4a7c15u >> 32;
        for (const Entry* one = buckets[hash & mask]; one != nullptr; one = one->next) {
            if (one->function == function) return true;
        }
        return false;
    }
};

struct Registered {
    nopscope::Ops ops;
    Registered* next;
    Filter filter;
    const Entry* bucket;
    Entry entry;
};

Registered all[max_ops];
Registered* head;

void walk(std::uint64_t ip, std::uint64_t parent_ip, nopscope::Ops*, nopscope::Regs* regs) {
    for (Registered* one = __atomic_load_n(&head, __ATOMIC_RELAXED); one != nullptr;
         one = __atomic_load_n(&one->next, __ATOMIC_RELAXED)) {
        if (one->filter.has(ip)) one->ops.func(ip, parent_ip, &one->ops, regs);
    }
}

std::uint64_t address_of(BenchFunction function) {
    return reinterpret_cast<std::uintptr_t>(function);
}

}  // namespace

constinit nopscope::Ops list_ops{.func = walk};

void list_register(unsigned number, BenchFunction function) {
    Registered& one = all[number];
    one.ops.func = reinterpret_cast<nopscope::Callback>(bench_empty_callback);
    one.entry = {address_of(function), nullptr};
    one.bucket = &one.entry;
    one.filter = {0, &one.bucket};
    one.next = head;
    __atomic_store_n(&head, &one, __ATOMIC_RELEASE);
}

void list_unregister(unsigned number) {
    for (Registered** at = &head; *at != nullptr; at = &(*at)->next) {
        if (*at != &all[number]) continue;
        __atomic_store_n(at, all[number].next, __ATOMIC_RELEASE);
        need(nopscope::synchronize(), "bench: no quiescence");
        return;
    }
}

unsigned list_tracing(BenchFunction function, unsigned& first) {
    unsigned count = 0;
    for (const Registered* one = head; one != nullptr; one = one->next) {
        if (!one->filter.has(address_of(function))) continue;
        ++count;
        first = static_cast<unsigned>(one - all);
    }
    return count;
}

}  // namespace bench
