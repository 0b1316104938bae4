// SPDX-License-Identifier: Apache-2.0
// The HAL's own side of the console; firmware uses hal.hpp's.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Boot, MMU off. At 115200 baud, which any terminal can read, unless the UART is emulated: then at the board's rate.
void uart_start();
// Boot, MMU off: when all has been sent, the board's rate, and then silence for 50 ms, in which the other side changes its
// own. On an emulated UART neither. Then a zero byte, so that the first frame (docs/trace-format.md) begins after the text.
void uart_go_on_at_board_rate();
std::uint32_t uart_clock_hz();  // what clocks it; 0: emulated
// Tells the sink, once, that from here on only the reporter runs.
void console_enter_panic();
// Forgets the sink: what is printed next goes raw to the UART. For a reporter whose sink failed.
void console_drop_sink();
void print_decimal(std::uint64_t value);
// `digits` hexadecimal digits, no prefix.
void print_hex_digits(std::uint64_t value, unsigned digits);

}  // namespace nopscope::hal
