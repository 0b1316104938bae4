// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/uart16550.hpp"

#include "hal/drivers/deadline.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned data = 0;  // and the divisor's low half
constexpr unsigned ier = 1;   // and its high half
constexpr unsigned fcr = 2;
constexpr unsigned lcr = 3;
constexpr unsigned mcr = 4;
constexpr unsigned lsr = 5;

constexpr std::uint8_t ier_receive = 1 << 0;
constexpr std::uint8_t fcr_on_and_cleared = 7;
constexpr std::uint8_t fcr_interrupt_at_8 = 2 << 6;
constexpr std::uint8_t lcr_8_bits = 3;
constexpr std::uint8_t lcr_divisor = 1 << 7;
constexpr std::uint8_t lsr_received = 1 << 0;
constexpr std::uint8_t lsr_fifo_empty = 1 << 5;
constexpr std::uint8_t lsr_idle = 1 << 6;

}  // namespace

void Uart16550::stop() const {
    const Deadline deadline(uart_stop_ms);
    while (is_busy() && !deadline.is_over()) {
    }
    write8(base_ + ier, 0);
    write8(base_ + mcr, 0);
}

void Uart16550::start(std::uint32_t clock_hz, std::uint32_t baud) const {
    if (const std::uint32_t divisor = uart16550_divisor(clock_hz, baud); divisor != 0) {
        write8(base_ + lcr, lcr_divisor);
        write8(base_ + data, static_cast<std::uint8_t>(divisor));
        write8(base_ + ier, static_cast<std::uint8_t>(divisor >> 8));
    }
    write8(base_ + lcr, lcr_8_bits);
    write8(base_ + fcr, fcr_on_and_cleared | fcr_interrupt_at_8);
}

void Uart16550::enable_receive_interrupt() const { write8(base_ + ier, ier_receive); }

bool Uart16550::try_write(std::uint8_t byte) const {
    if ((read8(base_ + lsr) & lsr_fifo_empty) == 0) return false;
    write8(base_ + data, byte);
    return true;
}

bool Uart16550::try_read(std::uint8_t& byte) const {
    if ((read8(base_ + lsr) & lsr_received) == 0) return false;
    byte = read8(base_ + data);
    return true;
}

bool Uart16550::is_busy() const { return (read8(base_ + lsr) & lsr_idle) == 0; }

}  // namespace nopscope::hal
