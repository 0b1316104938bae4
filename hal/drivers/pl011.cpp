// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/pl011.hpp"

#include "hal/drivers/deadline.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

// Register offsets and bits: DDI 0183, 3.2 and 3.3.
constexpr unsigned dr = 0x00;
constexpr unsigned fr = 0x18;
constexpr unsigned ibrd = 0x24;
constexpr unsigned fbrd = 0x28;
constexpr unsigned lcr_h = 0x2c;
constexpr unsigned cr = 0x30;
constexpr unsigned imsc = 0x38;
constexpr unsigned icr = 0x44;

constexpr std::uint32_t imsc_receive = 1 << 4 | 1 << 6;  // RXIM, RTIM
constexpr std::uint32_t fr_busy = 1 << 3;
constexpr std::uint32_t fr_rx_empty = 1 << 4;
constexpr std::uint32_t fr_tx_full = 1 << 5;
constexpr std::uint32_t lcr_fifos = 1 << 4;
constexpr std::uint32_t lcr_8_bits = 3 << 5;
constexpr std::uint32_t cr_enable = 1 << 0 | 1 << 8 | 1 << 9;  // UARTEN, TXE, RXE

}  // namespace

// The order of DDI 0183, 3.3.8: disable, wait for the current byte, flush the FIFOs by LCR_H.FEN.
// If a FIFO is not empty, BUSY then stays set for ever: hence the deadline.
void Pl011::stop() const {
    write32(base_ + cr, 0);
    const Deadline deadline(uart_stop_ms);
    while (is_busy() && !deadline.is_over()) {
    }
    write32(base_ + lcr_h, 0);
    write32(base_ + imsc, 0);
    write32(base_ + icr, 0x7ff);
}

void Pl011::enable_receive_interrupt() const { write32(base_ + imsc, imsc_receive); }

void Pl011::set_baud(std::uint32_t clock_hz, std::uint32_t baud) const {
    write32(base_ + cr, 0);
    write32(base_ + lcr_h, 0);
    start(clock_hz, baud);
}

void Pl011::start(std::uint32_t clock_hz, std::uint32_t baud) const {
    if (const std::uint32_t divisor = pl011_divisor(clock_hz, baud); divisor != 0) {
        write32(base_ + ibrd, divisor / 64);
        write32(base_ + fbrd, divisor % 64);
    }
    // After the divisors: a write of LCR_H latches them.
    write32(base_ + lcr_h, lcr_fifos | lcr_8_bits);
    write32(base_ + cr, cr_enable);
}

bool Pl011::try_write(std::uint8_t byte) const {
    if ((read32(base_ + fr) & fr_tx_full) != 0) return false;
    write32(base_ + dr, byte);
    return true;
}

bool Pl011::try_read(std::uint8_t& byte) const {
    if ((read32(base_ + fr) & fr_rx_empty) != 0) return false;
    byte = static_cast<std::uint8_t>(read32(base_ + dr));
    return true;
}

bool Pl011::is_busy() const { return (read32(base_ + fr) & fr_busy) != 0; }

}  // namespace nopscope::hal
