// SPDX-License-Identifier: Apache-2.0
// Raspberry Pi 4 (BCM2711), low-peripheral mode: "BCM2711 ARM Peripherals", 1.2.4 and the chapters
// named at the drivers.
#include "hal/board.hpp"
#include "hal/drivers/bcm2711_gpio.hpp"
#include "hal/drivers/bcm2711_mailbox.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr std::uint64_t gpio_base = 0xfe20'0000;
constexpr std::uint64_t mailbox_base = 0xfe00'b880;
// 4 Mbaud exactly, and 3 Mbaud within 0.4 %. The boot firmware's own, 48 MHz, ends at 3 Mbaud.
constexpr std::uint32_t uart_clock_hz = 64'000'000;
constexpr std::uint32_t firmware_clock_hz = 48'000'000;

constexpr DeviceRange devices[] = {
    {.base = 0xfe00'0000, .bytes = 0x0100'0000},  // mailbox, GPIO, PL011
    {.base = 0xff80'0000, .bytes = 0x0080'0000},  // GIC-400
};

// The PL011 on the header's pins 8 and 10. The emulated mailbox ignores the rate it is asked for:
// what it answers to the question afterwards is what counts.
std::uint32_t prepare_uart() {
    Bcm2711Gpio{gpio_base}.route_uart0();
    const Bcm2711Mailbox mailbox{mailbox_base};
    mailbox.set_uart_clock_hz(uart_clock_hz);
    const std::uint32_t actual_hz = mailbox.uart_clock_hz();
    return actual_hz != 0 ? actual_hz : firmware_clock_hz;
}

std::uint64_t arm_memory_end() {
    constexpr std::uint64_t with_default_gpu_mem = 0x3b40'0000;
    const std::uint64_t end = Bcm2711Mailbox{mailbox_base}.arm_memory_end();
    return end != 0 ? end : with_default_gpu_mem;
}

// A full reset in some 150 us; what the boot loader does then is as after power-on.
void reset_by_watchdog() {
    constexpr std::uint64_t power = 0xfe10'0000;
    constexpr unsigned rstc = 0x1c, wdog = 0x24;
    constexpr std::uint32_t password = 0x5a00'0000, full_reset = 0x20, ticks = 10;
    write32(power + wdog, password | ticks);
    write32(power + rstc, password | full_reset);
}

}  // namespace

constinit const BoardTable board = {
    .name = "rpi4",
    .uart = {.base = 0xfe20'1000,
             .interrupt = 153,  // VideoCore interrupt 57, from 96 on
             .baud = 3'000'000,
             .prepare_clock_hz = prepare_uart},
    .gic = {.version = GicVersion::v2, .distributor = 0xff84'1000, .second = 0xff84'2000},
    .psci = Psci::none,
    .spin_table = {.first_word = 0xd8, .cores = 4},  // raspberrypi/tools, armstubs/armstub8.S
    .devices = devices,
    .ram_end = arm_memory_end,
    .reset = reset_by_watchdog,
};

}  // namespace nopscope::hal
