// SPDX-License-Identifier: Apache-2.0
// The VideoCore's mini-UART (UART 1), by polling, 8N1. "BCM2835 ARM Peripherals" and "BCM2711 ARM
// Peripherals", 2.2, with elinux.org's errata of the first. It divides the VideoCore's core clock:
// its rate changes with that clock. FIFOs of 8 bytes; no parity; framing errors are not reported.
#pragma once

#include <cstdint>

#include "hal/drivers/baud.hpp"

namespace nopscope::hal {

// A bit takes 8 times this many core clocks. 1..65536; 0: the clock cannot make `baud`.
constexpr std::uint32_t mini_uart_divisor(std::uint32_t core_hz, std::uint32_t baud) {
    if (baud == 0) return 0;
    const std::uint64_t each = std::uint64_t{baud} * 8;
    const std::uint64_t divisor = (core_hz + each / 2) / each;
    return divisor <= 0x10000 ? static_cast<std::uint32_t>(divisor) : 0;
}
static_assert(mini_uart_divisor(500'000'000, 1'000'000) == 63);  // 62.5
static_assert(mini_uart_divisor(500'000'000, 115'200) == 543);
static_assert(mini_uart_divisor(250'000'000, 115'200) == 271);  // the manual's register holds 270
static_assert(mini_uart_divisor(500'000'000, 200'000'000) == 0);
static_assert(mini_uart_divisor(500'000'000, 900) == 0);

class MiniUart {
public:
    // `base`: of the auxiliary peripherals. The mini-UART is one of them.
    explicit constexpr MiniUart(std::uint64_t base) : base_(base) {}
    // Disables it and empties both FIFOs when all bytes are sent, or after 10 ms.
    void stop() const;
    // After stop(). core_hz 0 leaves the divisor as it is.
    void start(std::uint32_t core_hz, std::uint32_t baud) const;
    // Call it when all bytes are sent. Loses a byte that is being received.
    void set_baud(std::uint32_t core_hz, std::uint32_t baud) const;
    static constexpr bool can(std::uint32_t core_hz, std::uint32_t baud) {
        return receiver_tolerates(core_hz,
                                  std::uint64_t{mini_uart_divisor(core_hz, baud)} * baud * 8);
    }
    void enable_receive_interrupt() const;         // when the receive FIFO is not empty
    void acknowledge_receive_interrupt() const {}  // reading the bytes is enough
    bool try_write(std::uint8_t byte) const;       // false: the FIFO is full
    bool try_read(std::uint8_t& byte) const;       // false: nothing has arrived
    bool is_busy() const;                          // something is still being sent

private:
    std::uint64_t base_;
};
static_assert(MiniUart::can(500'000'000, 1'000'000) && MiniUart::can(500'000'000, 3'000'000));
static_assert(MiniUart::can(250'000'000, 1'000'000) && !MiniUart::can(250'000'000, 3'000'000));
static_assert(MiniUart::can(500'000'000, 115'200) && !MiniUart::can(500'000'000, 0));

}  // namespace nopscope::hal
