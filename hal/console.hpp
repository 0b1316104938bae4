// SPDX-License-Identifier: Apache-2.0
// The console functions that only the HAL uses. A firmware uses those of hal.hpp.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Boot, MMU off. 115200 baud, which all terminals can read. If emulated, the board's rate.
void uart_start();
// Boot, MMU off. Waits until everything is sent, changes to the board's rate, and sends nothing for
// 50 ms: the host changes its rate. If emulated, skips all this. Then sends a zero byte: the text
// ends, and a frame (docs/trace-format.md) may begin.
void uart_go_on_at_board_rate();
std::uint32_t uart_clock_hz();  // the UART's input clock; 0: emulated
// Tells the sink once that only the exception reporter or panic() prints from now on.
void console_enter_panic();
// Removes the sink: later output goes raw to the UART. For a reporter whose sink failed.
void console_drop_sink();
void print_decimal(std::uint64_t value);
// `digits` hexadecimal digits, no prefix.
void print_hex_digits(std::uint64_t value, unsigned digits);

}  // namespace nopscope::hal
