// SPDX-License-Identifier: Apache-2.0
// Interrupts: they come in time, nest by priority, and do not change the code that they interrupt.
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "hal/board.hpp"
#include "hal/hal.hpp"
#include "tests/firmware/image.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

namespace {

constexpr unsigned timer = hal::timer_interrupt;

bool wait_until(const volatile unsigned& counter, unsigned wanted) {
    return wait_for([&] { return counter >= wanted; });
}

volatile unsigned fired;
volatile std::uint64_t fired_at;

void note_timer(unsigned) {
    fired_at = hal::clock();
    fired = fired + 1;
    hal::timer_disarm();
}

}  // namespace

SELFTEST("interrupt.timer_fires_and_not_early") {
    hal::set_handler(timer, 8, note_timer);
    for (const unsigned fraction : {1000, 300, 100}) {  // 1, 3.3, 10 ms
        fired = 0;
        const std::uint64_t at = hal::clock() + hal::clock_hz() / fraction;
        hal::timer_arm(at);
        REQUIRE(wait_until(fired, 1) && fired_at >= at && fired == 1);
    }
}

SELFTEST("interrupt.masked_means_pending_and_wakes") {
    hal::set_handler(timer, 8, note_timer);
    fired = 0;
    {
        const hal::InterruptsMasked masked;
        REQUIRE(!hal::interrupts_enabled());
        hal::timer_arm(hal::clock() + hal::clock_hz() / 100);
        hal::wait_for_interrupt();
        wait_ticks(hal::clock_hz() / 1000);
        REQUIRE(fired == 0);
    }
    REQUIRE(hal::interrupts_enabled() && wait_until(fired, 1) && fired == 1);
}

SELFTEST("interrupt.a_disarmed_or_disabled_timer_is_silent") {
    hal::set_handler(timer, 8, note_timer);
    const auto stays_silent = [] {
        wait_ticks(hal::clock_hz() / 50);
        return fired == 0;
    };
    fired = 0;
    {
        const hal::InterruptsMasked masked;  // an emulator's host may stop between the next two
        hal::timer_arm(hal::clock() + hal::clock_hz() / 100);
        hal::timer_disarm();
    }
    REQUIRE(stays_silent());
    hal::disable_interrupt(timer);
    hal::timer_arm(hal::clock());
    REQUIRE(stays_silent());
    hal::set_handler(timer, 8, note_timer);  // now it is taken
    REQUIRE(wait_until(fired, 1));
}

// ---- nesting ----

namespace {

constexpr unsigned priorities = 15;
// All interrupts that can nest here: SGIs 0 to 6, and the timer, which is the least urgent.
constexpr unsigned levels = 8;
volatile unsigned depth;
volatile unsigned deepest;
volatile unsigned finished;
volatile unsigned order[levels];

// Each SGI is more urgent than the next: it raises the one before, which preempts it at once.
void nest(unsigned interrupt) {
    const unsigned sgi = interrupt == timer ? levels - 1 : interrupt;
    if (interrupt == timer) hal::timer_disarm();
    depth = depth + 1;
    if (depth > deepest) deepest = depth;
    if (sgi > 0) {
        hal::raise_interrupt(sgi - 1);
        wait_until(finished, sgi);  // until all more urgent handlers are done
    }
    order[finished] = sgi;
    finished = finished + 1;
    depth = depth - 1;
}

}  // namespace

// Each priority preempts the next: first priorities 0 to 7, then 7 to 14.
SELFTEST("interrupt.fifteen_priorities_nest") {
    for (const unsigned most_urgent : {0u, priorities - levels}) {
        depth = 0;
        deepest = 0;
        finished = 0;
        for (unsigned sgi = 0; sgi < levels - 1; ++sgi)
            hal::set_handler(sgi, most_urgent + sgi, nest);
        hal::set_handler(timer, most_urgent + levels - 1, nest);
        hal::timer_arm(hal::clock());
        REQUIRE(wait_until(finished, levels));
        REQUIRE(depth == 0 && deepest == levels);
        for (unsigned i = 0; i < levels; ++i) REQUIRE(order[i] == i);
    }
}

SELFTEST("interrupt.a_less_urgent_one_waits") {
    static volatile bool inside, nested;
    fired = 0;
    hal::set_handler(5, 9, [](unsigned) {
        nested = inside;
        fired = 1;
    });
    hal::set_handler(4, 5, [](unsigned) {
        inside = true;
        hal::raise_interrupt(5);
        wait_ticks(hal::clock_hz() / 1000);
        inside = false;
    });
    hal::raise_interrupt(4);
    REQUIRE(wait_until(fired, 1) && !nested);
}

// ---- registers ----

namespace {

alignas(16) struct { HeldRegisters in, out; } holding;
image::Random handler_random(0x5eed);
volatile unsigned hits;
volatile unsigned timer_hits;

void rearm() {
    const std::uint64_t spread = hal::clock_hz() / 5000;  // 20 to 220 microseconds
    hal::timer_arm(hal::clock() + spread / 10 + handler_random.below(spread));
}

// Changes all registers that it may, is preempted in between, and changes them again.
void spoil(unsigned) {
    timer_hits = timer_hits + 1;
    selftest_clobber(handler_random.next());
    hal::raise_interrupt(1);
    rearm();
    selftest_clobber(handler_random.next());
}
void spoil_nested(unsigned) {
    hits = hits + 1;
    selftest_clobber(0xdead'beef'dead'beef);
}

}  // namespace

SELFTEST("interrupt.no_register_changes") {
    constexpr unsigned wanted_hits = 300;
    constexpr unsigned wanted_timer_hits = 50;  // each may cost a time slice on a busy host
    constexpr std::uint64_t loops = 3'000;
    image::Random random(20221117);
    hal::set_handler(1, 2, spoil_nested);
    hal::set_handler(timer, 8, spoil);
    hits = 0;
    timer_hits = 0;
    const std::uint64_t limit = hal::clock() + patience_seconds * hal::clock_hz();
    rearm();
    bool same = true;
    while (same && (hits < wanted_hits || timer_hits < wanted_timer_hits) && hal::clock() < limit) {
        fill(holding.in, random, loops);
        hal::disable_interrupts();
        hal::raise_interrupt(1);
        selftest_hold(&holding);
        forget_unheld(holding.in, holding.out);
        same = std::memcmp(&holding.in, &holding.out, sizeof holding.in) == 0;
    }
    hal::timer_disarm();
    REQUIRE(same && hits >= wanted_hits && timer_hits >= wanted_timer_hits);
}

// ---- a byte from the host ----

// tests/target/run_image.py --input sends it when it sees that this listens. The note says whether
// it came.
SELFTEST("receive.a_byte_wakes_a_core") {
    constexpr std::uint64_t patience_seconds = 5;
    static volatile bool over;
    over = false;
    hal::set_handler(timer, 8, [](unsigned) {
        hal::timer_disarm();
        over = true;
    });
    {
        // Masked: else it could come before the sleep. Nothing else reads the UART meanwhile.
        const hal::InterruptsMasked masked;
        hal::uart_listen(7);
        std::printf("send a byte\n");
        hal::timer_arm(hal::clock() + patience_seconds * hal::clock_hz());
        hal::wait_for_interrupt();
    }
    std::uint8_t byte = 0;
    const bool came = !over && hal::uart_try_read(byte);
    hal::disable_interrupt(hal::board.uart.interrupt);
    passed(came ? "one came" : "none came");
}
