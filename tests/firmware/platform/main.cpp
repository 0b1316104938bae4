// SPDX-License-Identifier: Apache-2.0
// Tests the HAL and newlib alone. One line for each test; exit status 1 if one failed.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "tests/firmware/platform/crash.hpp"

namespace hal = nopscope::hal;

namespace {

unsigned failures;

void check(const char* name, bool passed) {
    std::printf("%s %s\n", passed ? "ok" : "FAILED", name);
    if (!passed) ++failures;
}

// False: not within a second.
template <typename Condition>
bool comes(Condition condition) {
    const std::uint64_t limit = hal::clock() + hal::clock_hz();
    while (!condition()) {
        if (hal::clock() > limit) return false;
        hal::yield();
    }
    return true;
}

void test_library() {
    char text[64];
    std::snprintf(text, sizeof text, "%.6f %lld %s", 2.0 / 3, -5'000'000'000ll, "text");
    check("printf", std::strcmp(text, "0.666667 -5000000000 text") == 0);
    const std::size_t bytes = std::size_t{4} << 20;
    auto* const block = static_cast<unsigned char*>(std::malloc(bytes));
    check("malloc", block != nullptr);
    std::memset(block, 0x5a, bytes);
    check("memset", block[0] == 0x5a && block[bytes - 1] == 0x5a);
    std::free(block);
    check("command_line", std::strstr(hal::command_line(), "words=given") != nullptr);
}

// The handlers' order: a digit each, at its begin and at its end.
char order[32];
volatile unsigned noted;
void note(char what) {
    const unsigned at = noted;
    if (at == sizeof order - 1) return;
    order[at] = what;
    noted = at + 1;
}
void forget() {
    noted = 0;
    std::memset(order, 0, sizeof order);
}

void software_handler(unsigned number) {
    note(static_cast<char>('0' + number));
    if (number == 3) hal::raise_interrupt(1);  // more urgent: at once
    if (number == 3) hal::raise_interrupt(5);  // less urgent: later
    note('.');
}

void test_software_interrupts() {
    for (unsigned number = 0; number < 7; ++number)
        hal::set_handler(number, 2 * number, software_handler);
    forget();
    for (unsigned number = 0; number < 7; ++number) hal::raise_interrupt(number);
    check("each comes at once", std::strcmp(order, "0.1.2.31..5.4.5.6.") == 0);
    forget();
    {
        const hal::InterruptsMasked masked;
        constexpr unsigned numbers[] = {6, 2, 4, 0};
        for (const unsigned number : numbers) hal::raise_interrupt(number);
        check("none comes while they are masked", noted == 0);
    }
    check("the most urgent is first",
          comes([] { return noted >= 8; }) && std::strcmp(order, "0.2.4.6.") == 0);
    forget();
    hal::disable_interrupt(2);
    hal::raise_interrupt(2);
    hal::raise_interrupt(4);
    check("a disabled one waits", std::strcmp(order, "4.") == 0);
    hal::set_handler(2, 4, software_handler);
    check("until it is enabled", std::strcmp(order, "4.2.") == 0);
}

// As many live values of both kinds as there are registers for.
struct Sums {
    std::uint64_t whole[14];
    double real[20];
    bool operator==(const Sums&) const = default;
};
// noipa: the compiler would not call it twice for the same values.
[[gnu::noipa]] Sums compute(std::uint64_t seed, unsigned steps, double factor) {
    Sums sums;
    for (std::uint64_t& one : sums.whole) one = seed++;
    for (double& one : sums.real) one = 1.0 / static_cast<double>(++seed);
    // The logistic map: a wrong bit makes all later values wrong.
    for (; steps != 0; --steps) {
#pragma GCC unroll 14
        for (unsigned i = 0; i < 14; ++i) sums.whole[i] += sums.whole[(i + 1) % 14] ^ i;
#pragma GCC unroll 20
        for (double& one : sums.real) one *= factor * (1 - one);
    }
    return sums;
}

volatile unsigned timer_ticks;
std::uint64_t timer_was_due;
Sums of_handler;
volatile bool timer_was_early, timer_registers_wrong;
void timer_handler(unsigned) {
    note('t');
    if (hal::clock() < timer_was_due) timer_was_early = true;
    const hal::InterruptedRegisters at = hal::interrupted_registers();
    const hal::StackBounds stack = hal::stack_bounds();
    if (at.sp <= stack.low || at.sp > stack.high) timer_registers_wrong = true;
    if (*hal::interrupt_depth_of(0) != 1 || at.pc != hal::interrupted_pc())
        timer_registers_wrong = true;
    of_handler = compute(timer_ticks, 3, 2.5);
    timer_ticks = timer_ticks + 1;
    if (timer_ticks == 1000)
        hal::timer_disarm();
    else
        hal::timer_arm(timer_was_due = hal::clock() + hal::clock_hz() / 100'000);
}

void test_timer() {
    constexpr unsigned steps = 20'000;
    const Sums expected = compute(1, steps, 3.75), of_handler_expected = compute(999, 3, 2.5);
    hal::set_handler(hal::timer_interrupt, 7, timer_handler);
    hal::timer_arm(timer_was_due = hal::clock() + hal::clock_hz() / 1000);
    const Sums sums = compute(1, steps, 3.75);
    check("timer", comes([] { return timer_ticks == 1000; }));
    check("registers are kept", sums == expected && of_handler == of_handler_expected);
    check("never early", !timer_was_early);
    check("interrupted registers", !timer_registers_wrong);
    check("depth", *hal::interrupt_depth_of(0) == 0);
}

// An interrupt between a load-exclusive and its store: no increment is lost.
std::atomic<unsigned> shared_count;
volatile unsigned in_handler;
void counting_handler(unsigned) {
    shared_count.store(shared_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    in_handler = in_handler + 1;
    hal::timer_arm(hal::clock() + hal::clock_hz() / 200'000);
}
void test_atomics() {
    hal::set_handler(hal::timer_interrupt, 7, counting_handler);
    hal::timer_arm(hal::clock());
    unsigned mine = 0;
    while (in_handler < 2000) {
        unsigned before = shared_count.load(std::memory_order_relaxed);
        while (!shared_count.compare_exchange_weak(before, before + 1)) {
        }
        ++mine;
    }
    hal::timer_disarm();
    check("atomic over interrupts", shared_count == mine + in_handler);
}

void test_faults() {
    volatile int* const nothing = nullptr;
    const auto read = [](void* at) { static_cast<void>(*static_cast<volatile int*>(at)); };
    check("a fault is caught", hal::expect_fault(read, const_cast<int*>(nothing)).happened);
    int fine = 0;
    check("no fault", !hal::expect_fault(read, &fine).happened);
    const auto guard = hal::stack_bounds().low - 8;
    check("below the stack", hal::expect_fault(read, reinterpret_cast<void*>(guard)).happened);
}

void test_clocks() {
    const std::uint64_t time = hal::clock(), cycles = hal::cycles();
    check("clock", comes([=] { return hal::clock() > time + 10; }));
    check("cycles", hal::cycles() > cycles);
}

// More than a FIFO holds. Nothing reads until an interrupt came.
volatile unsigned uart_interrupts;
void test_input() {
    constexpr unsigned bytes = 40;
    hal::set_interrupt_observer({.interrupt_begin = [](std::uint32_t) -> std::uint64_t {
                                     uart_interrupts = uart_interrupts + 1;
                                     return 0;
                                 },
                                 .interrupt_end = [](std::uint64_t) {}});
    hal::uart_listen(3);
    while (uart_interrupts == 0) hal::yield();
    hal::set_interrupt_observer({});
    unsigned right = 0;
    for (std::uint8_t byte = 0; right < bytes;) {
        if (!hal::uart_try_read(byte)) continue;
        if (byte != 'a' + right % 26) break;
        ++right;
    }
    check("uart input", right == bytes);
}

// In no segment of the image: it keeps its value over a reset.
[[gnu::section(".nopscope.ring")]] std::uint64_t boots;
void reset_if_asked() {
    constexpr std::uint64_t second = 0x5ec0'4db0'07ed'b007;
    if (std::strstr(hal::command_line(), "reset=1") == nullptr) return;
    if (std::exchange(boots, second) != second) hal::reset();
    check("memory survives a reset", hal::memory_survives_reset());
    std::exit(0);
}

}  // namespace

int main() {
    std::printf("platform: the hal and newlib\n");
    crash_if_asked();
    reset_if_asked();
    check("this core", hal::this_core() == 0 && hal::core_count() >= 1);
    test_library();
    test_clocks();
    test_software_interrupts();
    test_timer();
    test_atomics();
    test_faults();
    test_input();
    std::printf("platform: %u failed\n", failures);
    return failures == 0 ? 0 : 1;
}
