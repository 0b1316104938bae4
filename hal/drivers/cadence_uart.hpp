// SPDX-License-Identifier: Apache-2.0
// The Cadence UART of Xilinx's Zynq and ZynqMP, by polling, 8N1. UG1085, chapter 21, and UG1087.
#pragma once

#include <cstdint>

#include "hal/drivers/baud.hpp"

namespace nopscope::hal {

// A sample takes `clocks` input clocks, and a bit takes `samples` (BAUD_DIV + 1) samples.
struct CadenceDivisor {
    std::uint32_t clocks = 0;   // 1..65535; 0: the clock cannot make this rate
    std::uint32_t samples = 0;  // 5..256

    // The nearest to `baud`; among equals the one with the most samples.
    static constexpr CadenceDivisor of(std::uint32_t clock_hz, std::uint32_t baud) {
        CadenceDivisor best;
        if (baud == 0) return best;
        std::uint64_t least = ~std::uint64_t{0};
        for (std::uint32_t samples = 256; samples >= 5; --samples) {
            const std::uint64_t each = std::uint64_t{baud} * samples;
            const std::uint64_t clocks = (clock_hz + each / 2) / each;
            if (clocks == 0 || clocks > 0xffff) continue;
            const std::uint64_t is = clocks * each;
            const std::uint64_t off = is > clock_hz ? is - clock_hz : clock_hz - is;
            if (off >= least) continue;
            least = off;
            best = {.clocks = static_cast<std::uint32_t>(clocks), .samples = samples};
        }
        return best;
    }
    constexpr bool operator==(const CadenceDivisor&) const = default;
};
static_assert(CadenceDivisor::of(100'000'000, 2'000'000) == CadenceDivisor{1, 50});
static_assert(CadenceDivisor::of(100'000'000, 4'000'000) == CadenceDivisor{1, 25});
static_assert(CadenceDivisor::of(100'000'000, 115'200) == CadenceDivisor{4, 217});
static_assert(CadenceDivisor::of(100'000'000, 300'000'000) == CadenceDivisor{});
static_assert(CadenceDivisor::of(4'000'000'000, 50) == CadenceDivisor{});

class CadenceUart {
public:
    explicit constexpr CadenceUart(std::uint64_t base) : base_(base) {}
    // Disables the UART when all bytes are sent, or after 10 ms.
    void stop() const;
    // After stop(). Empties both FIFOs. clock_hz 0 leaves the divisors as they are.
    void start(std::uint32_t clock_hz, std::uint32_t baud) const;
    // Call it when all bytes are sent. Loses a byte that is being received.
    void set_baud(std::uint32_t clock_hz, std::uint32_t baud) const;
    static constexpr bool can(std::uint32_t clock_hz, std::uint32_t baud) {
        const CadenceDivisor divisor = CadenceDivisor::of(clock_hz, baud);
        return receiver_tolerates(clock_hz, std::uint64_t{divisor.clocks} * divisor.samples * baud);
    }
    // Interrupts while the receive FIFO (64 bytes, QEMU's 16) is not empty.
    void enable_receive_interrupt() const;
    // For the handler: call it before reading the bytes.
    void acknowledge_receive_interrupt() const;
    bool try_write(std::uint8_t byte) const;  // false: the FIFO is full
    bool try_read(std::uint8_t& byte) const;  // false: nothing has arrived
    bool is_busy() const;                     // something is still being sent

private:
    std::uint64_t base_;
};
static_assert(CadenceUart::can(100'000'000, 2'000'000) && CadenceUart::can(100'000'000, 3'000'000));
static_assert(CadenceUart::can(100'000'000, 115'200) && !CadenceUart::can(100'000'000, 15'000'000));
static_assert(!CadenceUart::can(100'000'000, 30'000'000) && !CadenceUart::can(100'000'000, 0));

}  // namespace nopscope::hal
