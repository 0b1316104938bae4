// SPDX-License-Identifier: Apache-2.0
// The PL011 UART, by polling, 8N1, FIFOs on: Arm DDI 0183. It works with both FIFO depths (16, 32):
// it reads only the full, empty and busy flags.
#pragma once

#include <cstdint>

#include "hal/drivers/baud.hpp"

namespace nopscope::hal {

// The bit period in 1/64 of 16 UART clocks: UARTIBRD.UARTFBRD. Zero: the clock is too slow for
// `baud`, or the divisor does not fit.
constexpr std::uint32_t pl011_divisor(std::uint32_t clock_hz, std::uint32_t baud) {
    if (baud == 0) return 0;
    const std::uint64_t divisor = (std::uint64_t{clock_hz} * 4 + baud / 2) / baud;
    return divisor >= 64 && divisor <= 0xffff * 64 ? static_cast<std::uint32_t>(divisor) : 0;
}
static_assert(pl011_divisor(48'000'000, 3'000'000) == 64);
static_assert(pl011_divisor(48'000'000, 115'200) == 26 * 64 + 3);  // 26.0417: DDI 0183, 3.3.6
static_assert(pl011_divisor(64'000'000, 4'000'000) == 64);
static_assert(pl011_divisor(64'000'000, 3'000'000) == 85);
static_assert(pl011_divisor(24'000'000, 3'000'000) == 0);
static_assert(pl011_divisor(4'000'000'000, 50) == 0);

// The clock with which this divisor makes this rate. Zero: no UART has such a divisor.
constexpr std::uint32_t pl011_clock_hz(std::uint32_t divisor, std::uint32_t baud) {
    const std::uint64_t hz = std::uint64_t{divisor} * baud / 4;
    return divisor >= 64 && hz <= ~std::uint32_t{0} ? static_cast<std::uint32_t>(hz) : 0;
}
static_assert(pl011_clock_hz(5 * 64, 115'200) == 9'216'000);
static_assert(pl011_clock_hz(pl011_divisor(44'000'000, 115'200), 115'200) == 44'006'400);
static_assert(pl011_clock_hz(0, 115'200) == 0 && pl011_clock_hz(0xffff * 64, 4'000'000) == 0);

class Pl011 {
public:
    explicit constexpr Pl011(std::uint64_t base) : base_(base) {}
    // Disables the UART and empties both FIFOs. Waits at most 10 ms for a byte that is being sent.
    // The UART's clock may change between stop() and start().
    void stop() const;
    // After stop(). clock_hz 0 leaves the divisors as they are.
    void start(std::uint32_t clock_hz, std::uint32_t baud) const;
    // Call it when all bytes are sent. Loses a byte that is being received.
    void set_baud(std::uint32_t clock_hz, std::uint32_t baud) const;
    static constexpr bool can(std::uint32_t clock_hz, std::uint32_t baud) {
        const std::uint64_t divisor = pl011_divisor(clock_hz, baud);
        return divisor != 0 && receiver_tolerates(std::uint64_t{clock_hz} * 4, divisor * baud);
    }
    // Interrupts if the receive FIFO is half full, or not empty and the line idle for 32 bits.
    void enable_receive_interrupt() const;
    void acknowledge_receive_interrupt() const {}  // reading the bytes is enough
    bool try_write(std::uint8_t byte) const;       // false: the FIFO is full
    bool try_read(std::uint8_t& byte) const;       // false: nothing has arrived
    bool is_busy() const;                          // something is still being sent

private:
    std::uint64_t base_;
};
static_assert(Pl011::can(48'000'000, 3'000'000) && Pl011::can(48'000'000, 115'200));
static_assert(Pl011::can(64'000'000, 4'000'000) && Pl011::can(64'000'000, 3'000'000));
static_assert(Pl011::can(64'000'000, 921'600) && Pl011::can(64'000'000, 115'200));
static_assert(Pl011::can(48'000'000, 921'600) && !Pl011::can(48'000'000, 3'100'000));

}  // namespace nopscope::hal
