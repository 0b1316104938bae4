// SPDX-License-Identifier: Apache-2.0
// The UART. It sends by polling. After uart_listen() the receive interrupt fills a buffer, so that
// no byte is lost between two reads: at 3 Mbaud a FIFO of 16 or 32 bytes is full after 50 or 100
// us. The interrupt comes when the FIFO is half full.
#include <atomic>

#include "hal/console.hpp"
#include "hal/drivers.hpp"
#include "hal/drivers/deadline.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

std::uint32_t clock_hz_of_uart;  // 0: emulated
std::uint32_t baud_now;

// The rate of the boot report. Terminal programs start with it, and all USB adapters can make it.
constexpr std::uint32_t first_baud = 115'200;
constexpr unsigned report_sent_ms = 100;  // a FIFO's 64 bytes take 6
constexpr unsigned quiet_ms = 50;

constexpr std::uint32_t received_bytes = 512;
std::uint8_t received[received_bytes];
std::atomic<std::uint32_t> first, last;  // count bytes; modulo 2^32
std::atomic<unsigned> receiving;         // 0 or 1; RISC-V exchanges no single byte

bool can_be(std::uint32_t baud) {
    return with_uart([=](auto uart) { return uart.can(clock_hz_of_uart, baud); });
}

// Moves bytes from the FIFO to the buffer. Returns at once if another core is doing it.
void receive() {
    const InterruptsMasked masked;
    if (receiving.exchange(1, std::memory_order_acquire) != 0) return;
    std::uint32_t at = last.load(std::memory_order_relaxed);
    with_uart([&](auto uart) {
        for (std::uint8_t byte = 0; uart.try_read(byte);) {
            // A full buffer drops the byte. Left in the FIFO it would keep the interrupt pending.
            if (at - first.load(std::memory_order_acquire) < received_bytes) {
                received[at++ % received_bytes] = byte;
            }
        }
    });
    last.store(at, std::memory_order_release);
    receiving.store(0, std::memory_order_release);
}

}  // namespace

void uart_start() {
    with_uart([](auto uart) { uart.stop(); });  // before its clock changes
    const auto prepare = board.uart.prepare_clock_hz;
    clock_hz_of_uart = prepare != nullptr ? prepare() : 0;
    // A clock that cannot make both rates is QEMU's, where the rate has no effect.
    const bool has_rates = clock_hz_of_uart != 0 && can_be(first_baud) && can_be(board.uart.baud);
    baud_now = has_rates ? first_baud : board.uart.baud;
    with_uart([](auto uart) { uart.start(clock_hz_of_uart, baud_now); });
}

void uart_go_on_at_board_rate() {
    if (baud_now != board.uart.baud) {
        const Deadline sent(report_sent_ms);
        while (with_uart([](auto uart) { return uart.is_busy(); }) && !sent.is_over()) {
        }
        baud_now = board.uart.baud;
        with_uart([](auto uart) { uart.set_baud(clock_hz_of_uart, baud_now); });
        const Deadline quiet(quiet_ms);
        while (!quiet.is_over()) {
        }
    }
    // Ends the boot report, or what a reader of frames decoded from it at another rate.
    uart_write(0);
}

std::uint32_t uart_clock_hz() { return clock_hz_of_uart; }

std::uint32_t uart_baud() { return baud_now; }

bool uart_set_baud(std::uint32_t baud, bool only_ask) {
    const bool can = clock_hz_of_uart == 0 ? baud != 0 : can_be(baud);
    if (!can || only_ask) return can;
    with_uart([=](auto uart) { uart.set_baud(clock_hz_of_uart, baud); });
    baud_now = baud;
    return true;
}

bool uart_try_write(std::uint8_t byte) {
    return with_uart([=](auto uart) { return uart.try_write(byte); });
}

void uart_write(std::uint8_t byte) {
    while (!uart_try_write(byte)) {
    }
}

void uart_drain() {
    while (with_uart([](auto uart) { return uart.is_busy(); })) {
    }
}

void uart_listen(unsigned priority) {
    set_handler(board.uart.interrupt, priority, [](unsigned) {
        with_uart([](auto uart) { uart.acknowledge_receive_interrupt(); });
        receive();
    });
    with_uart([](auto uart) { uart.enable_receive_interrupt(); });
}

bool uart_try_read(std::uint8_t& byte) {
    const std::uint32_t at = first.load(std::memory_order_relaxed);
    if (at == last.load(std::memory_order_acquire)) receive();
    if (at == last.load(std::memory_order_acquire)) return false;
    byte = received[at % received_bytes];
    first.store(at + 1, std::memory_order_release);
    return true;
}

}  // namespace nopscope::hal
