// SPDX-License-Identifier: Apache-2.0
#include "firmware/counts/functions.hpp"

#define APART extern "C" [[gnu::noinline, gnu::noclone, gnu::noipa]]

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

APART void counts_outer(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
        counts_caller(3);
        counts_recursive(2);
    }
}
