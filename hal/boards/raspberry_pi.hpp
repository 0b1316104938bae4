// SPDX-License-Identifier: Apache-2.0
// What the Raspberry Pi's tables have in common: the VideoCore's peripherals, at each board's own address.
#pragma once

#include "hal/drivers/mmio.hpp"
#include "hal/drivers/videocore_gpio.hpp"
#include "hal/drivers/videocore_mailbox.hpp"

namespace nopscope::hal {

template <std::uint64_t peripherals, PinPulls pulls>
struct RaspberryPi {
    static constexpr std::uint64_t uart0 = peripherals + 0x20'1000;
    static constexpr VideocoreMailbox mailbox{peripherals + 0xb880};

    // The PL011 on the header's pins 8 and 10. The emulated mailbox ignores the rate it is asked for:
    // what it answers to the question afterwards is what counts.
    static std::uint32_t prepare_uart() {
        // 4 Mbaud exactly, and 3 Mbaud within 0.4 %. The boot firmware's own, 48 MHz, ends at 3 Mbaud.
        constexpr std::uint32_t wanted_hz = 64'000'000, firmware_hz = 48'000'000;
        VideocoreGpio{peripherals + 0x20'0000, pulls}.route_uart0();
        mailbox.set_uart_clock_hz(wanted_hz);
        const std::uint32_t actual_hz = mailbox.uart_clock_hz();
        return actual_hz != 0 ? actual_hz : firmware_hz;
    }

    static std::uint64_t arm_memory_end() {
        constexpr std::uint64_t with_default_gpu_mem = 0x3b40'0000;
        const std::uint64_t end = mailbox.arm_memory_end();
        return end != 0 ? end : with_default_gpu_mem;
    }

    // A full reset in some 150 us; what the boot loader does then is as after power-on.
    static void reset_by_watchdog() {
        constexpr std::uint64_t power = peripherals + 0x10'0000;
        constexpr unsigned rstc = 0x1c, wdog = 0x24;
        constexpr std::uint32_t password = 0x5a00'0000, full_reset = 0x20, ticks = 10;
        write32(power + wdog, password | ticks);
        write32(power + rstc, password | full_reset);
    }
};

}  // namespace nopscope::hal
