// SPDX-License-Identifier: Apache-2.0
// Functions with a known number of SW_INCR events. A counter counts each write of its bit to
// PMSWINC_EL0.
#include "tests/firmware/events/functions.hpp"

#define APART extern "C" [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

// On both counters. One of them counts it; the other counts something else, or nothing.
[[gnu::always_inline]] inline void raise(std::uint64_t times) {
    for (; times != 0; --times) asm volatile("msr pmswinc_el0, %0" ::"r"(std::uint64_t{3}));
}

}  // namespace

APART void events_leaf(std::uint64_t n) { raise(n); }

APART void events_caller(std::uint64_t n) {
    raise(1);
    for (std::uint64_t i = 0; i < n; ++i) events_leaf(i);
    raise(3);
}

APART void events_recursive(std::uint64_t n) {
    raise(n);
    if (n != 0) events_recursive(n - 1);
    asm volatile("");
}

APART void events_tail(std::uint64_t n) {
    raise(2);
    events_leaf(n);
}

APART void events_of_core(std::uint64_t core) {
    raise(100 * core + 1);
    events_caller(core + 2);
    asm volatile("");
}
