// SPDX-License-Identifier: Apache-2.0
// A received byte interrupts. tests/target/run_image.py --input sends it when it sees that this
// listens. The note says whether a byte came.
#include <cstdio>

#include "hal/board.hpp"
#include "hal/hal.hpp"
#include "tests/firmware/selftest/selftest.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

SELFTEST("receive.a_byte_wakes_a_core") {
    constexpr unsigned timer = hal::virtual_timer_interrupt;
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
    hal::timer_disarm();
    hal::disable_interrupt(timer);
    passed(came ? "one came" : "none came");
}
