// SPDX-License-Identifier: Apache-2.0
// The PL011 UART by polling, 8N1, FIFOs on: Arm DDI 0183. Either FIFO depth (16, 32): only the
// full and busy flags are looked at.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Bit period in 1/64 of 16 UART clocks: UARTIBRD.UARTFBRD. Zero when the clock is too slow for
// `baud` or so fast that the divisor does not fit.
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

// The clock with which this divisor makes this rate. Zero if no UART has such a divisor.
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
    // Disables the UART and empties both FIFOs; waits at most 10 ms for a byte that is being sent. From here to start()
    // its clock may change.
    void stop() const;
    // After stop(). clock_hz 0 leaves the divisors as they are.
    void start(std::uint32_t clock_hz, std::uint32_t baud) const;
    // Everything has been sent. What is being received is lost.
    void set_baud(std::uint32_t clock_hz, std::uint32_t baud) const;
    // The rate is within the 2.5 % that a receiver bears: half a bit in ten, less what the other side is off.
    static constexpr bool can(std::uint32_t clock_hz, std::uint32_t baud) {
        const std::uint64_t divisor = pl011_divisor(clock_hz, baud);
        if (divisor == 0) return false;
        const std::uint64_t is = std::uint64_t{clock_hz} * 4 * 1000, wanted = divisor * baud * 1000;
        return (is > wanted ? is - wanted : wanted - is) <= wanted / 40;
    }
    // When the receive FIFO is half full, or not empty and the line idle for 32 bits.
    void enable_receive_interrupt() const;
    void acknowledge_receive_interrupt() const {}  // reading what has come is enough
    bool try_write(std::uint8_t byte) const;  // false: the FIFO is full
    bool try_read(std::uint8_t& byte) const;  // false: nothing has arrived
    bool is_busy() const;                     // something is still being sent

private:
    std::uint64_t base_;
};
static_assert(Pl011::can(48'000'000, 3'000'000) && Pl011::can(48'000'000, 115'200));
static_assert(Pl011::can(64'000'000, 4'000'000) && Pl011::can(64'000'000, 3'000'000));
static_assert(Pl011::can(64'000'000, 921'600) && Pl011::can(64'000'000, 115'200));
static_assert(Pl011::can(48'000'000, 921'600) && !Pl011::can(48'000'000, 3'100'000));

}  // namespace nopscope::hal
