// SPDX-License-Identifier: Apache-2.0
// The end of a bounded wait, by the generic timer's counter. Any context, MMU on or off.
#pragma once

#include <cstdint>

#include "hal/hal.hpp"

namespace nopscope::hal {

class Deadline {
public:
    explicit Deadline(unsigned milliseconds)
        : start_(clock()), ticks_(clock_hz() * milliseconds / 1000) {}
    bool is_over() const { return clock() - start_ >= ticks_; }

private:
    std::uint64_t start_;
    std::uint64_t ticks_;
};

// How long a UART may still send at this image's start: 64 bytes at 115200 baud take 5.6 ms.
inline constexpr unsigned uart_stop_ms = 10;

}  // namespace nopscope::hal
