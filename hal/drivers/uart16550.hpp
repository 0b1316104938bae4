// SPDX-License-Identifier: Apache-2.0
// A UART like National Semiconductor's 16550, registers a byte apart, 8N1, with FIFOs of 16 bytes:
// "PC16550D Universal Asynchronous Receiver/Transmitter with FIFOs".
#pragma once

#include <cstdint>

#include "hal/drivers/baud.hpp"

namespace nopscope::hal {

// A bit takes 16 times this many clocks. 1..65535; 0: the clock cannot make `baud`.
constexpr std::uint32_t uart16550_divisor(std::uint32_t clock_hz, std::uint32_t baud) {
    if (baud == 0) return 0;
    const std::uint64_t each = std::uint64_t{baud} * 16;
    const std::uint64_t divisor = (clock_hz + each / 2) / each;
    return divisor < 0x10000 ? static_cast<std::uint32_t>(divisor) : 0;
}
static_assert(uart16550_divisor(48'000'000, 3'000'000) == 1);
static_assert(uart16550_divisor(3'686'400, 115'200) == 2);
static_assert(uart16550_divisor(48'000'000, 40) == 0 && uart16550_divisor(3'686'400, 0) == 0);

class Uart16550 {
public:
    explicit constexpr Uart16550(std::uint64_t base) : base_(base) {}
    // Disables its interrupts when all bytes are sent, or after 10 ms.
    void stop() const;
    // After stop(). Empties both FIFOs. clock_hz 0 leaves the divisor as it is.
    void start(std::uint32_t clock_hz, std::uint32_t baud) const;
    // Call it when all bytes are sent. Loses a byte that is being received.
    void set_baud(std::uint32_t clock_hz, std::uint32_t baud) const { start(clock_hz, baud); }
    static constexpr bool can(std::uint32_t clock_hz, std::uint32_t baud) {
        return receiver_tolerates(clock_hz,
                                  std::uint64_t{uart16550_divisor(clock_hz, baud)} * baud * 16);
    }
    void enable_receive_interrupt() const;         // at 8 bytes, or after a pause
    void acknowledge_receive_interrupt() const {}  // reading the bytes is enough
    bool try_write(std::uint8_t byte) const;       // false: the FIFO is not empty
    bool try_read(std::uint8_t& byte) const;       // false: nothing has arrived
    bool is_busy() const;                          // something is still being sent

private:
    std::uint64_t base_;
};
static_assert(Uart16550::can(3'686'400, 115'200) && !Uart16550::can(3'686'400, 0));

}  // namespace nopscope::hal
