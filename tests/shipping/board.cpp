// SPDX-License-Identifier: Apache-2.0
// Functions of a board and a libc, which firmware/examples/minimal and minimal-c need to link.
#include "hal/hal.hpp"

#include <cstdio>

namespace nopscope::hal {
StackBounds stack_bounds() { return {}; }
const char* board_name() { return "none"; }
std::uint64_t clock_hz() { return 1; }
std::uint32_t uart_baud() { return 1; }
bool uart_try_write(std::uint8_t) { return true; }
void uart_drain() {}
void set_console(const ConsoleSink&) {}
void print(const char*) {}
void panic(const char*) {
    for (;;) {
    }
}
}  // namespace nopscope::hal

extern "C" {
int printf(const char*, ...) { return 0; }
int puts(const char*) { return 0; }
int fflush(FILE*) { return 0; }
FILE* stdout;
}
