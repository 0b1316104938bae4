// SPDX-License-Identifier: Apache-2.0
// The pins of a Raspberry Pi's UART: "BCM2711 ARM Peripherals", 5.2 and 5.3, and "BCM2835 ARM
// Peripherals", 6.1.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// How a pin's pull is set: by a field in a register, or by a sequence of writes.
enum class PinPulls : std::uint8_t { bcm2711, bcm2835 };

// The UART on pins 14 and 15. The value is the pins' function.
enum class HeaderUart : std::uint8_t { pl011 = 4 /* ALT0 */, mini = 2 /* ALT5 */ };

class VideocoreGpio {
public:
    constexpr VideocoreGpio(std::uint64_t base, PinPulls pulls) : base_(base), pulls_(pulls) {}
    // GPIO 14 is TXD. GPIO 15 is RXD, pulled up: an open line reads as idle. For the PL011, GPIO 32
    // and 33 (to the Bluetooth chip) become inputs: they may be the same UART's pins.
    void route(HeaderUart uart) const;

private:
    void pull_uart_pins() const;

    std::uint64_t base_;
    PinPulls pulls_;
};

}  // namespace nopscope::hal
