// SPDX-License-Identifier: Apache-2.0
#include "firmware/selftest/traced.hpp"

#include <csetjmp>

namespace nopscope::selftest {

namespace {
std::jmp_buf caught;
volatile bool armed = true;
}  // namespace

[[gnu::noinline]] std::uint64_t leaf(std::uint64_t x) {
    asm volatile("");
    return x + 1;
}

[[gnu::noinline]] std::uint64_t calls_leaf(std::uint64_t x) { return leaf(x) + 1; }

[[gnu::noinline]] std::uint64_t tail_calls_leaf(std::uint64_t x) { return leaf(x + 1); }

// The volatile read keeps GCC from turning the recursion into a loop.
[[gnu::noinline]] std::uint64_t sum_to(std::uint64_t n) {
    const volatile std::uint64_t own = n;
    return n == 0 ? 0 : sum_to(n - 1) + own;
}

[[gnu::noinline]] std::uint64_t throws(unsigned depth) {
    const volatile unsigned here = depth;
    if (depth == 0 && armed) std::longjmp(caught, 1);
    return depth == 0 ? 0 : throws(depth - 1) + here;
}

[[gnu::noinline]] std::uint64_t catches(unsigned depth) {
    if (setjmp(caught) == 0) return throws(depth);
    return leaf(depth);
}

}  // namespace nopscope::selftest
