// SPDX-License-Identifier: Apache-2.0
// Starts the Raspberry Pi 5's debug UART by the board's table and the firmware's divisors.
#include <gtest/gtest.h>

#include "hal/board.hpp"
#include "hal/console.hpp"
#include "hal/hal.hpp"
#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal::rpi5_test {

constexpr std::uint64_t uart = 0x10'7d00'1000;
constexpr std::uint64_t dr = uart, ibrd = uart + 0x24, fbrd = uart + 0x28, cr = uart + 0x30;

struct Rpi5Test : ::testing::Test {
    void left_by_the_firmware(std::uint32_t integer, std::uint32_t fraction) {
        bus.registers[cr] = 0x301;
        bus.registers[ibrd] = integer;
        bus.registers[fbrd] = fraction;
    }
    Bus bus;
};

// Without divisors, the clock is TF-A's.
TEST_F(Rpi5Test, KeepsTheDivisorsOfTheFirmwaresClock) {
    const struct {
        std::uint32_t integer, fraction, clock_hz, ibrd, fbrd, highest_baud;
    } clocks[] = {{5, 0, 9'216'000, 5, 0, 0},
                  {23, 56, 44'006'400, 23, 56, 2'000'000},
                  {0, 0, 44'000'000, 23, 56, 2'000'000}};
    for (const auto& of : clocks) {
        SCOPED_TRACE(of.clock_hz);
        left_by_the_firmware(of.integer, of.fraction);
        uart_start();
        EXPECT_EQ(std::tuple(uart_clock_hz(), uart_baud(), bus.registers[ibrd], bus.registers[fbrd],
                             bus.registers[cr]),
                  std::tuple(of.clock_hz, 115'200u, of.ibrd, of.fbrd, 0x301u));
        for (const std::uint32_t baud : {921'600u, 2'000'000u, 3'000'000u})
            EXPECT_EQ(uart_set_baud(baud, true), baud <= of.highest_baud) << baud;
    }
}

TEST_F(Rpi5Test, TheRateDoesNotChangeAfterTheReport) {
    left_by_the_firmware(24, 0);
    uart_start();
    bus.writes.clear();
    uart_go_on_at_board_rate();
    EXPECT_EQ(bus.writes, (std::vector<Write>{{dr, 0}}));
    EXPECT_EQ(uart_baud(), 115'200u);
}

TEST(Rpi5Table, EachDeviceIsMappedInWholePages) {
    const auto is_mapped = [](std::uint64_t address, std::uint64_t bytes) {
        for (const DeviceRange& range : board.devices) {
            EXPECT_EQ(range.base % 4096 + range.bytes % 4096, 0u);
            if (address >= range.base && address + bytes <= range.base + range.bytes) return true;
        }
        return false;
    };
    EXPECT_TRUE(is_mapped(board.uart.base, 0x48));
    EXPECT_TRUE(is_mapped(board.interrupts.base, 0x1000));
    EXPECT_TRUE(is_mapped(board.interrupts.second, 0x2000));
    EXPECT_FALSE(is_mapped(board.interrupts.second + 0x2000, 1));
}

}  // namespace nopscope::hal::rpi5_test
