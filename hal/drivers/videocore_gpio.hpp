// SPDX-License-Identifier: Apache-2.0
// A Raspberry Pi's pins, as far as the UART needs them: "BCM2711 ARM Peripherals", 5.2 and 5.3, and "BCM2835
// ARM Peripherals", 6.1.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// How a pin is pulled up or down: by a field of its own, or by a sequence of writes.
enum class PinPulls : std::uint8_t { bcm2711, bcm2835 };

class VideocoreGpio {
public:
    constexpr VideocoreGpio(std::uint64_t base, PinPulls pulls) : base_(base), pulls_(pulls) {}
    // GPIO 14 is UART0's TXD and GPIO 15 its RXD, pulled up so that an open line reads as idle. GPIO 32
    // and 33, to the Bluetooth chip, are no longer: they would be the same UART's, too.
    void route_uart0() const;

private:
    void pull_uart_pins() const;

    std::uint64_t base_;
    PinPulls pulls_;
};

}  // namespace nopscope::hal
