// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/mini_uart.hpp"

#include "hal/drivers/deadline.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned enables = 0x04;  // of the auxiliary peripherals: this UART and two SPIs
constexpr unsigned io = 0x40;
constexpr unsigned ier = 0x44;
constexpr unsigned iir = 0x48;
constexpr unsigned lcr = 0x4c;
constexpr unsigned mcr = 0x50;
constexpr unsigned lsr = 0x54;
constexpr unsigned cntl = 0x60;
constexpr unsigned baud_reg = 0x68;  // the divisor less one

constexpr std::uint32_t enable_mini_uart = 1 << 0;
constexpr std::uint32_t ier_receive = 1 << 0 | 3 << 2;  // errata: 0 and 1 are swapped, 2 and 3 used
constexpr std::uint32_t iir_clear_fifos = 3 << 1;
constexpr std::uint32_t lcr_8_bits = 3;  // errata: the manual has only bit 0
constexpr std::uint32_t lsr_received = 1 << 0;
constexpr std::uint32_t lsr_room = 1 << 5;
constexpr std::uint32_t lsr_idle = 1 << 6;
constexpr std::uint32_t cntl_enable = 3;  // receiver, transmitter; no flow control

}  // namespace

// The UART must be enabled before its registers can be used.
void MiniUart::stop() const {
    write32(base_ + enables, read32(base_ + enables) | enable_mini_uart);
    const Deadline deadline(uart_stop_ms);
    while (is_busy() && !deadline.is_over()) {
    }
    write32(base_ + cntl, 0);
    write32(base_ + ier, 0);
    write32(base_ + mcr, 0);
}

void MiniUart::enable_receive_interrupt() const { write32(base_ + ier, ier_receive); }

void MiniUart::set_baud(std::uint32_t core_hz, std::uint32_t baud) const {
    write32(base_ + cntl, 0);
    start(core_hz, baud);
}

void MiniUart::start(std::uint32_t core_hz, std::uint32_t baud) const {
    if (const std::uint32_t divisor = mini_uart_divisor(core_hz, baud); divisor != 0) {
        write32(base_ + baud_reg, divisor - 1);
    }
    write32(base_ + lcr, lcr_8_bits);
    write32(base_ + iir, iir_clear_fifos);
    write32(base_ + cntl, cntl_enable);
}

bool MiniUart::try_write(std::uint8_t byte) const {
    if ((read32(base_ + lsr) & lsr_room) == 0) return false;
    write32(base_ + io, byte);
    return true;
}

bool MiniUart::try_read(std::uint8_t& byte) const {
    if ((read32(base_ + lsr) & lsr_received) == 0) return false;
    byte = static_cast<std::uint8_t>(read32(base_ + io));
    return true;
}

bool MiniUart::is_busy() const { return (read32(base_ + lsr) & lsr_idle) == 0; }

}  // namespace nopscope::hal
