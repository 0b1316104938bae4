// SPDX-License-Identifier: Apache-2.0
#include "firmware/examples/minimal-c/board.h"

#include "hal/hal.hpp"
#include "nopscope/nopscope.h"

namespace hal = nopscope::hal;

extern "C" {

const char* board_name() { return hal::board_name(); }
uint64_t board_clock_hz() { return hal::clock_hz(); }
uint32_t board_baud() { return hal::uart_baud(); }
uint64_t board_stack_low() { return hal::stack_bounds().low; }
uint64_t board_stack_high() { return hal::stack_bounds().high; }
bool board_try_write(uint8_t byte) { return hal::uart_try_write(byte); }
void board_drain() { hal::uart_drain(); }
void board_panic(const char* message) { hal::panic(message); }
void board_frame_console() {
    if (NOPSCOPE_ENABLED) hal::set_console({nopscope_console_write, nopscope_enter_panic});
}
}
