// SPDX-License-Identifier: Apache-2.0
// The twenty lines to copy: a firmware that traces itself.
#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

[[gnu::noinline]] int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main() {
    namespace hal = nopscope::hal;
    const auto [low, high] = hal::stack_bounds();
    const auto status = nopscope::init({.image = "minimal",
                                        .board = hal::board_name(),
                                        .clock_hz = hal::clock_hz(),
                                        .output = {hal::uart_try_write, hal::uart_drain},
                                        .line_bytes_per_second = hal::uart_baud() / 10,
                                        .stack_low = low,
                                        .stack_high = high,
                                        .mode = nopscope::Mode::lossless,
                                        .recorder = nopscope::Recorder::graph});
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    if (NOPSCOPE_ENABLED) hal::set_console({nopscope::console_write, nopscope::enter_panic});

    hal::print(fibonacci(16) == 987 ? "fibonacci: right\n" : "fibonacci: wrong\n");
    nopscope::finish();
    return 0;
}
