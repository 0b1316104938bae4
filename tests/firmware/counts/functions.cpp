// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/counts/functions.hpp"

#define APART extern "C" [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

void* caught_at[5];

}  // namespace

APART void counts_empty() {}

APART std::uint64_t counts_few(std::uint64_t n) { return n * 3 + 1; }

APART std::uint64_t counts_caller(std::uint64_t calls) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < calls; ++i) sum += counts_few(i);
    return sum;
}

APART std::uint64_t counts_mixed(std::uint64_t n) {
    std::uint64_t sum = n;
    for (std::uint64_t i = 0; i < n; ++i) {
        for (std::uint64_t bit = 0; bit < 13; ++bit) sum = sum * 31 + (sum >> 7);
        if (i % 3 == 0) counts_loop(i + 1);
        if (i % 7 == 0) counts_empty();
    }
    return sum;
}

APART std::uint64_t counts_recursive(std::uint64_t n) {
    counts_loop_odd(n + 40);
    return n == 0 ? 0 : 1 + counts_recursive(n - 1);
}

APART std::uint64_t counts_fibonacci(std::uint64_t n) {
    return n < 2 ? n : counts_fibonacci(n - 1) + counts_fibonacci(n - 2);
}

APART std::uint64_t counts_thrower(std::uint64_t n) {
    std::uint64_t sum = n;
    for (std::uint64_t i = 0; i < 1000 + n; ++i) sum = sum * 31 + (sum >> 7);
    counts_empty();
    if (sum != 0) __builtin_longjmp(caught_at, 1);
    return sum;
}

// In the recording, the call that longjmp left ends when the next call begins.
APART std::uint64_t counts_catcher(std::uint64_t n) {
    volatile std::uint64_t sum = n;
    if (__builtin_setjmp(caught_at) == 0) sum = counts_thrower(n);
    counts_empty();
    for (std::uint64_t i = 0; i < 400; ++i) sum = sum * 31 + (sum >> 7);
    return sum;
}

APART std::uint64_t counts_handled(std::uint64_t n) { return n * 5 + (n >> 3); }

APART std::uint64_t counts_handler(std::uint64_t n) {
    std::uint64_t sum = n;
    for (std::uint64_t i = 0; i < n % 5 + 1; ++i) sum += counts_handled(sum);
    return sum;
}

APART void counts_outer(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        counts_caller(3);
        counts_recursive(2);
    }
}
