// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/cadence_uart.hpp"

#include "hal/drivers/deadline.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

// Register offsets and bits: UG1087, module UART.
constexpr unsigned control = 0x00;
constexpr unsigned mode = 0x04;
constexpr unsigned interrupt_enable = 0x08;
constexpr unsigned interrupt_disable = 0x0c;
constexpr unsigned interrupt_status = 0x14;  // a 1 clears that bit
constexpr unsigned baud_clocks = 0x18;
constexpr unsigned receive_trigger = 0x20;  // threshold in bytes
constexpr unsigned status = 0x2c;
constexpr unsigned fifo = 0x30;
constexpr unsigned baud_samples = 0x34;

constexpr std::uint32_t control_reset = 1 << 0 | 1 << 1;  // receiver, transmitter; clear themselves
constexpr std::uint32_t control_enable = 1 << 2 | 1 << 4;
constexpr std::uint32_t control_disable = 1 << 3 | 1 << 5;
constexpr std::uint32_t mode_8n1 = 1 << 5;  // the reference clock undivided, no parity
constexpr std::uint32_t all_interrupts = 0x1fff;
constexpr std::uint32_t receive_interrupt = 1 << 0;  // the FIFO holds receive_trigger bytes
constexpr std::uint32_t status_receive_empty = 1 << 1;
constexpr std::uint32_t status_transmit_empty = 1 << 3;
constexpr std::uint32_t status_transmit_full = 1 << 4;
constexpr std::uint32_t status_sending = 1 << 11;

}  // namespace

void CadenceUart::stop() const {
    const Deadline deadline(uart_stop_ms);
    while (is_busy() && !deadline.is_over()) {
    }
    write32(base_ + control, control_disable);
    write32(base_ + interrupt_disable, all_interrupts);
}

void CadenceUart::set_baud(std::uint32_t clock_hz, std::uint32_t baud) const {
    write32(base_ + control, control_disable);
    start(clock_hz, baud);
}

void CadenceUart::start(std::uint32_t clock_hz, std::uint32_t baud) const {
    if (const CadenceDivisor divisor = CadenceDivisor::of(clock_hz, baud); divisor.clocks != 0) {
        write32(base_ + baud_clocks, divisor.clocks);
        write32(base_ + baud_samples, divisor.samples - 1);
    }
    write32(base_ + mode, mode_8n1);
    write32(base_ + control, control_disable | control_reset);
    const Deadline deadline(uart_stop_ms);
    while ((read32(base_ + control) & control_reset) != 0 && !deadline.is_over()) {
    }
    write32(base_ + control, control_enable);
}

void CadenceUart::enable_receive_interrupt() const {
    write32(base_ + receive_trigger, 1);
    acknowledge_receive_interrupt();
    write32(base_ + interrupt_enable, receive_interrupt);
}

// Bytes that are still in the FIFO, or come later, set it again.
void CadenceUart::acknowledge_receive_interrupt() const {
    write32(base_ + interrupt_status, receive_interrupt);
}

bool CadenceUart::try_write(std::uint8_t byte) const {
    if ((read32(base_ + status) & status_transmit_full) != 0) return false;
    write32(base_ + fifo, byte);
    return true;
}

bool CadenceUart::try_read(std::uint8_t& byte) const {
    if ((read32(base_ + status) & status_receive_empty) != 0) return false;
    byte = static_cast<std::uint8_t>(read32(base_ + fifo));
    return true;
}

bool CadenceUart::is_busy() const {
    return (read32(base_ + status) & (status_transmit_empty | status_sending)) !=
           status_transmit_empty;
}

}  // namespace nopscope::hal
