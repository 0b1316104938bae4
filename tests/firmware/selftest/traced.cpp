// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/selftest/traced.hpp"

#include "hal/hal.hpp"
#include "nopscope/interrupts.hpp"
#include "tests/firmware/selftest/machine.hpp"

#include <csetjmp>

namespace nopscope::selftest {

std::jmp_buf caught;
void (*volatile leave)(std::jmp_buf, int) = std::longjmp;
namespace {
volatile bool armed = true;
}  // namespace

[[gnu::noinline]] std::uint64_t leaf(std::uint64_t x) {
    asm volatile("");
    return x + 1;
}

[[gnu::noinline]] std::uint64_t calls_leaf(std::uint64_t x) { return leaf(x) + 1; }

[[gnu::noinline]] std::uint64_t tail_calls_leaf(std::uint64_t x) { return leaf(x + 1); }

// The volatile read stops GCC from turning the recursion into a loop.
[[gnu::noinline]] std::uint64_t sum_to(std::uint64_t n) {
    const volatile std::uint64_t own = n;
    return n == 0 ? 0 : sum_to(n - 1) + own;
}

[[gnu::noinline]] std::uint64_t throws(unsigned depth) {
    const volatile unsigned here = depth;
    if (depth == 0 && armed) leave(caught, 1);
    return depth == 0 ? 0 : throws(depth - 1) + here;
}

[[gnu::noinline]] std::uint64_t catches(unsigned depth) {
    if (setjmp(caught) == 0) return throws(depth);
    return leaf(depth);
}

[[gnu::noinline]] std::uint64_t catches_often(unsigned times) {
    volatile unsigned count = 0;
    (void)setjmp(caught);
    while (count < times) {
        count = count + 1;
        (void)throws(0);
    }
    return count;
}

[[gnu::noinline]] void calls_back(void (*function)()) {
    function();
    asm volatile("");
}
// Like firmware that masks interrupts: it reports its own return address.
[[gnu::noinline]] void masks(std::uint64_t ticks) {
    interrupts_masked(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
    for (const std::uint64_t end = hal::clock() + ticks; hal::clock() < end;) {
    }
    interrupts_unmasked();
}
[[gnu::noinline]] void jumps_back(void (*function)()) { function(); }
[[gnu::noinline]] void breaks_in_frame() { asm volatile(SELFTEST_BREAKPOINT::: SELFTEST_LINK); }
[[gnu::noinline]] void breaks() { asm volatile(SELFTEST_BREAKPOINT); }

}  // namespace nopscope::selftest
