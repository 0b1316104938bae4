// SPDX-License-Identifier: Apache-2.0
// Raspberry Pi 5 (BCM2712). Nobody has run this on hardware, and QEMU has no model of it. The
// BCM2712 has no public manual. Addresses and interrupts are those of Linux' bcm2712.dtsi (add
// 0x10'0000'0000 to those of its soc node); TF-A's plat/rpi/rpi5 has the same.
#include "hal/board.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/drivers/pl011.hpp"

namespace nopscope::hal {

namespace {

constexpr std::uint64_t soc = 0x10'0000'0000;
// uart10: the connector between the HDMI ports.
constexpr std::uint64_t debug_uart = soc + 0x7d00'1000;

// GIC-400.
constexpr std::uint64_t distributor = soc + 0x7fff'9000;
constexpr std::uint64_t cpu_interface = soc + 0x7fff'a000;

constexpr DeviceRange devices[] = {
    {.base = debug_uart, .bytes = 0x1000},
    {.base = distributor, .bytes = 0x1000},
    {.base = cpu_interface, .bytes = 0x2000},
};

constexpr std::uint32_t firmware_baud = 115'200;

// The sources disagree about the clock (Linux: 9,216,000 Hz; TF-A: 44,000,000 Hz). The firmware
// sets the UART to 115,200 baud, so its divisors tell the clock.
std::uint32_t uart_clock_hz() {
    constexpr unsigned ibrd = 0x24, fbrd = 0x28;
    constexpr std::uint32_t of_tf_a = 44'000'000;
    const std::uint32_t integer = read32(debug_uart + ibrd) & 0xffff;
    const std::uint32_t fraction = read32(debug_uart + fbrd) & 63;
    const std::uint32_t hz = pl011_clock_hz(integer * 64 + fraction, firmware_baud);
    return hz != 0 ? hz : of_tf_a;
}

static_assert(!NOPSCOPE_MINI_UART,
              "the Raspberry Pi 5 has no mini-UART: leave NOPSCOPE_RPI_CONSOLE at pl011");

}  // namespace

constinit const BoardTable board = {
    .name = "rpi5",
    .uart = {.kind = UartKind::pl011,
             .base = debug_uart,
             .interrupt = 32 + 121,
             .baud = firmware_baud,  // the only rate that does not depend on the clock's value
             .prepare_clock_hz = uart_clock_hz},
    .interrupts = {.controller = Controller::gic_v2, .base = distributor, .second = cpu_interface},
    // TF-A's PSCI. The cores' MPIDR_EL1 is 0x000, 0x100, 0x200, 0x300, and MT is set.
    .core_start = {.psci = Psci::by_smc},
    .devices = devices,
};

}  // namespace nopscope::hal
