// SPDX-License-Identifier: Apache-2.0
// What the UART needs of a Raspberry Pi's pins: "BCM2711 ARM Peripherals", 5.2 and 5.3, and "BCM2835
// ARM Peripherals", 6.1.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// How a pin is pulled up or down: by a field of its own, or by a sequence of writes.
enum class PinPulls : std::uint8_t { bcm2711, bcm2835 };

// Which UART is on pins 14 and 15: the value that selects it.
enum class HeaderUart : std::uint8_t { pl011 = 4 /* ALT0 */, mini = 2 /* ALT5 */ };

class VideocoreGpio {
public:
    constexpr VideocoreGpio(std::uint64_t base, PinPulls pulls) : base_(base), pulls_(pulls) {}
    // GPIO 14 is TXD and GPIO 15 RXD, pulled up so that an open line reads as idle. With the PL011 GPIO 32 and
    // 33, to the Bluetooth chip, are no longer: they would be the same UART's, too.
    void route(HeaderUart uart) const;

private:
    void pull_uart_pins() const;

    std::uint64_t base_;
    PinPulls pulls_;
};

}  // namespace nopscope::hal
