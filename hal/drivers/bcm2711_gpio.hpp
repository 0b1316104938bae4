// SPDX-License-Identifier: Apache-2.0
// The Pi 4's pins, as far as the UART needs them: "BCM2711 ARM Peripherals", 5.2 and 5.3.
#pragma once

#include <cstdint>

namespace nopscope::hal {

class Bcm2711Gpio {
public:
    explicit constexpr Bcm2711Gpio(std::uint64_t base) : base_(base) {}
    // GPIO 14 is UART0's TXD and GPIO 15 its RXD, pulled up so that an open line reads as idle. GPIO 32
    // and 33, to the Bluetooth chip, are no longer: they would be the same UART's, too.
    void route_uart0() const;

private:
    std::uint64_t base_;
};

}  // namespace nopscope::hal
