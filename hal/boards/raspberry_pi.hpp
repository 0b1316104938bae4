// SPDX-License-Identifier: Apache-2.0
// The tables of Raspberry Pi 3 and 4 share this: the VideoCore's peripherals, at each board's base.
#pragma once

#include "hal/board.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/drivers/videocore_gpio.hpp"
#include "hal/drivers/videocore_mailbox.hpp"

namespace nopscope::hal {

template <std::uint64_t peripherals, PinPulls pulls>
struct RaspberryPi {
    static constexpr VideocoreMailbox mailbox{peripherals + 0xb880};

    static constexpr BoardTable table(const char* name, unsigned first_interrupt,
                                      const InterruptConfig& interrupts,
                                      std::span<const DeviceRange> devices) {
        return {
            .name = name,
            .uart = console(first_interrupt),
            .interrupts = interrupts,
            .core_start = {.spin_table = {.first_word = 0xd8,
                                          .cores = 4}},  // raspberrypi/tools, armstub8.S
            .devices = devices,
            .ram_end = arm_memory_end,
            .firmware_clocks = clocks,
            .reset = reset_by_watchdog,
        };
    }

    // On the header's pins 8 and 10. `first_interrupt`: the number of VideoCore interrupt 0 here.
    static constexpr UartConfig console(unsigned first_interrupt) {
        if constexpr (NOPSCOPE_MINI_UART) {
            return {.kind = UartKind::mini,
                    .base = peripherals + 0x21'5000,
                    .interrupt = first_interrupt + 29,
                    .baud = 1'000'000,  // within 0.8 % at core clocks of 250 and 500 MHz
                    .prepare_clock_hz = prepare_mini_uart};
        }
        return {.kind = UartKind::pl011,
                .base = peripherals + 0x20'1000,
                .interrupt = first_interrupt + 57,
                .baud = 3'000'000,
                .prepare_clock_hz = prepare_uart};
    }

    // The boot firmware sets the core clock. This only reads it: start() divides it.
    static std::uint32_t prepare_mini_uart() {
        // If it is silent: config.txt's core_freq (Pi 4), or the value of enable_uart=1 (Pi 3).
        constexpr std::uint32_t assumed_hz = pulls == PinPulls::bcm2711 ? 500'000'000 : 250'000'000;
        VideocoreGpio{peripherals + 0x20'0000, pulls}.route(HeaderUart::mini);
        const std::uint32_t actual_hz = mailbox.core_clock_hz();
        return actual_hz != 0 ? actual_hz : assumed_hz;
    }

    // The emulated mailbox ignores the requested rate, so the code asks for the rate afterwards. If
    // the mailbox is silent, the card's config.txt has set the same rate.
    static std::uint32_t prepare_uart() {
        // Makes 4 Mbaud exactly, and 3 Mbaud within 0.4 %. The firmware's 48 MHz end at 3 Mbaud.
        constexpr std::uint32_t wanted_hz = 64'000'000;
        VideocoreGpio{peripherals + 0x20'0000, pulls}.route(HeaderUart::pl011);
        mailbox.set_uart_clock_hz(wanted_hz);
        const std::uint32_t actual_hz = mailbox.uart_clock_hz();
        return actual_hz != 0 ? actual_hz : wanted_hz;
    }

    static FirmwareClocks clocks() {
        const std::uint32_t arm_hz = mailbox.arm_clock_hz();
        const std::uint32_t core_hz = mailbox.core_clock_hz();
        return {.is_silent = mailbox.is_silent(), .arm_hz = arm_hz, .core_hz = core_hz};
    }

    static std::uint64_t arm_memory_end() {
        constexpr std::uint64_t with_default_gpu_mem = 0x3b40'0000;
        const std::uint64_t end = mailbox.arm_memory_end();
        return end != 0 ? end : with_default_gpu_mem;
    }

    // A full reset after some 150 us. The boot loader then starts as after power-on.
    static void reset_by_watchdog() {
        constexpr std::uint64_t power = peripherals + 0x10'0000;
        constexpr unsigned rstc = 0x1c, wdog = 0x24;
        constexpr std::uint32_t password = 0x5a00'0000, full_reset = 0x20, ticks = 10;
        write32(power + wdog, password | ticks);
        write32(power + rstc, password | full_reset);
    }
};

}  // namespace nopscope::hal
