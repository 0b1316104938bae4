// SPDX-License-Identifier: Apache-2.0
// The tracer's configuration for our own images: the board, and the stack of the caller.
#pragma once

#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

inline nopscope::Config board_config(const char* image) {
    namespace hal = nopscope::hal;
    const auto stack = hal::stack_bounds();
    nopscope::Config config;
    config.image = image;
    config.board = hal::board_name();
    config.clock_hz = hal::clock_hz();
    config.output = {hal::uart_try_write, hal::uart_drain};
    config.stack_low = stack.low;
    config.stack_high = stack.high;
    config.keep_over_reset = hal::memory_survives_reset();
    return config;
}
