// SPDX-License-Identifier: Apache-2.0
// Boot, time, the console, and newlib on top of them.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hal/board.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "tests/firmware/image.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/selftest.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

SELFTEST("boot.board") {
    REQUIRE(hal::core_count() >= 1 && hal::core_count() <= hal::max_cores && hal::this_core() == 0);
    REQUIRE(hal::uart_baud() == hal::board.uart.baud);
    passed(hal::board_name());
}

SELFTEST("boot.semihosting_answer_is_consistent") {
    // Without semihosting the probe's instruction is an exception. The HAL catches it, and main()
    // runs.
    REQUIRE(hal::has_semihosting() || hal::command_line()[0] == '\0');
    passed(hal::has_semihosting() ? "answered" : "unanswered");
}

SELFTEST("time.clock_advances") {
    REQUIRE(hal::clock_hz() >= 1'000'000);
    std::uint64_t before = hal::clock();
    for (unsigned i = 0; i < 1000; ++i) {
        const std::uint64_t now = hal::clock();
        REQUIRE(now >= before);
        before = now;
    }
    wait_ticks(1);
}

SELFTEST("time.cycles_advance") {
    if (!has_cycle_counter()) return passed("no PMU here");
    const std::uint64_t before = hal::cycles();
    for (volatile unsigned i = 0; i < 10'000;) i = i + 1;
    const std::uint64_t spent = hal::cycles() - before;
    REQUIRE(spent >= 10'000 && spent < std::uint64_t{1} << 40);
}

SELFTEST("time.gettimeofday_follows_the_clock") {
    const auto now = [] {
        timeval value;
        gettimeofday(&value, nullptr);
        return static_cast<std::uint64_t>(value.tv_sec) * 1'000'000 +
               static_cast<std::uint64_t>(value.tv_usec);
    };
    const std::uint64_t before = now();
    wait_ticks(hal::clock_hz() / 100);
    const std::uint64_t spent = now() - before;
    REQUIRE(spent >= 9'999 && spent < 60'000'000);
}

SELFTEST("newlib.printf_formats") {
    char text[64];
    std::snprintf(text, sizeof text, "%f %.3e %d %s %#llx", 3.14159265, -12345.678, -42, "ok",
                  0x1234'5678'9abcULL);
    REQUIRE(std::strcmp(text, "3.141593 -1.235e+04 -42 ok 0x123456789abc") == 0);
}

SELFTEST("newlib.malloc_gives_and_takes") {
    constexpr unsigned blocks = 64;
    unsigned char* block[blocks];
    image::Random random(7);
    for (unsigned i = 0; i < blocks; ++i) {
        const std::size_t bytes = 16 + random.below(20'000);
        block[i] = static_cast<unsigned char*>(std::malloc(bytes));
        REQUIRE(block[i] != nullptr && reinterpret_cast<std::uintptr_t>(block[i]) % 16 == 0);
        std::memset(block[i], static_cast<int>(i), bytes);
    }
    for (unsigned i = 0; i < blocks; ++i) {
        REQUIRE(block[i][0] == i && block[i][15] == i);
        std::free(block[i]);
    }
    void* volatile large = std::malloc(16 << 20);
    REQUIRE(large != nullptr);
    std::free(std::memset(large, 1, 16 << 20));
    errno = 0;
    void* volatile impossible = std::malloc(std::size_t{1} << 40);
    REQUIRE(impossible == nullptr && errno == ENOMEM);
}

SELFTEST("newlib.sbrk_stays_within_the_heap") {
    void* const refused = reinterpret_cast<void*>(-1);
    const hal::HeapBounds heap = hal::heap_bounds();
    void* const before = sbrk(0);
    const auto end = reinterpret_cast<std::uint64_t>(before);
    REQUIRE(end >= heap.low && end <= heap.high);
    errno = 0;
    REQUIRE(sbrk(static_cast<std::ptrdiff_t>(heap.high - end) + 1) == refused && errno == ENOMEM);
    REQUIRE(sbrk(-static_cast<std::ptrdiff_t>(end - heap.low) - 1) == refused && sbrk(0) == before);
    REQUIRE(sbrk(64) == before && sbrk(-64) == static_cast<char*>(before) + 64);
    REQUIRE(sbrk(0) == before);
}

SELFTEST("newlib.descriptors_are_the_console") {
    REQUIRE(isatty(1) == 1);
    errno = 0;
    REQUIRE(write(7, "x", 1) == -1 && errno == EBADF);
    REQUIRE(lseek(1, 0, SEEK_SET) == -1 && errno == ESPIPE);
}

namespace {

// Runs before init() sets the tracer's register.
struct Constructed {
    Constructed() : value(magic), registers_are_zero(unknown_registers_are_zero()) {}
    static constexpr unsigned magic = 0x600d;
    unsigned value;
    bool registers_are_zero;
};
// Not constant-initialised: only a constructor that ran can have set it.
volatile Constructed constructed;
volatile unsigned initialised = 0x1234'5678;  // .data
volatile unsigned zeroed[64];                 // .bss

char captured[32];
void capture(const char* bytes, std::size_t count) {
    std::strncat(captured, bytes, std::min(count, sizeof captured - std::strlen(captured) - 1));
}

}  // namespace

// longjmp reads the tracer's register before init(), and code that rounds depends on its mode.
SELFTEST("boot.sections_are_initialised_and_unknown_registers_zeroed") {
    REQUIRE(initialised == 0x1234'5678);
    for (const volatile unsigned& word : zeroed) REQUIRE(word == 0);
    REQUIRE(constructed.value == Constructed::magic);
    REQUIRE(constructed.registers_are_zero);
}

SELFTEST("console.goes_where_it_is_set") {
    std::fflush(stdout);
    captured[0] = 0;
    hal::set_console({.write = capture, .enter_panic = nullptr});
    std::printf("a%db", 1);
    std::fflush(stdout);
    hal::print("|");
    hal::print_hex(0xabc);
    hal::set_console({.write = nullptr, .enter_panic = nullptr});
    REQUIRE(std::strcmp(captured, "a1b|0x0000000000000abc") == 0);
}

SELFTEST("console.the_transmitter_takes_and_drains") {
    std::fflush(stdout);
    hal::uart_drain();
    unsigned taken = 0;
    while (taken < 4 && hal::uart_try_write('.')) ++taken;
    hal::uart_drain();
    hal::print("\n");
    REQUIRE(taken == 4);  // a drained FIFO has room for 16 bytes at least
}
