// SPDX-License-Identifier: Apache-2.0
// The HAL's own side of the console; firmware uses hal.hpp's.
#pragma once

#include <cstdint>

namespace nopscope::hal {

void uart_start();  // boot, MMU off
// Tells the sink, once, that from here on only the reporter runs.
void console_enter_panic();
// Forgets the sink: what is printed next goes raw to the UART. For a reporter whose sink failed.
void console_drop_sink();
void print_decimal(std::uint64_t value);
// `digits` hexadecimal digits, no prefix.
void print_hex_digits(std::uint64_t value, unsigned digits);

}  // namespace nopscope::hal
