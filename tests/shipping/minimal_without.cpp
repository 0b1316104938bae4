// SPDX-License-Identifier: Apache-2.0
// firmware/examples/minimal/main.cpp without nopscope. It still calls the hal, in the same order.
#include "hal/hal.hpp"

[[gnu::noinline]] int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main() {
    namespace hal = nopscope::hal;
    hal::stack_bounds();
    hal::board_name();
    hal::clock_hz();
    hal::uart_baud();

    hal::print(fibonacci(16) == 987 ? "fibonacci: right\n" : "fibonacci: wrong\n");
    return 0;
}
