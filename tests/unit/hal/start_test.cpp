// SPDX-License-Identifier: Apache-2.0
// Starts the Raspberry Pi 4's UART by the board's table, with simulated pins, mailbox and PL011.
#include <gtest/gtest.h>

#include <algorithm>

#include "hal/console.hpp"
#include "hal/hal.hpp"
#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal::start_test {

constexpr std::uint64_t uart = 0xfe20'1000, mailbox = 0xfe00'b880;
constexpr std::uint64_t dr = uart, fr = uart + 0x18, ibrd = uart + 0x24, fbrd = uart + 0x28,
                        lcr_h = uart + 0x2c, cr = uart + 0x30;
constexpr std::uint32_t uart_clock = 2, busy = 1 << 3;

struct StartTest : ::testing::Test {
    StartTest() {
        bus.registers[cr] = 0x301;  // the boot firmware's value
        videocore.on_set = [this](std::uint32_t clock, std::uint32_t) {
            EXPECT_EQ(std::tuple(clock, bus.registers[cr], bus.registers[lcr_h]),
                      std::tuple(uart_clock, 0u, 0u));
            ++clock_changes;
        };
    }
    Bus bus;
    SimulatedVideocore videocore{bus, mailbox};
    unsigned clock_changes = 0;
};

TEST_F(StartTest, TheClockChangesWhileTheUartIsDisabledAndFlushed) {
    uart_start();
    EXPECT_EQ(std::tuple(clock_changes, videocore.clocks[uart_clock], bus.writes.front()),
              std::tuple(1u, 64'000'000u, (Write{cr, 0})));
    const auto first = [&](const Write& one) {
        return std::find(bus.writes.begin(), bus.writes.end(), one);
    };
    EXPECT_LT(first({lcr_h, 0}), first({ibrd, bus.registers[ibrd]}));
    EXPECT_EQ(bus.registers[cr], 0x301u);
}

TEST_F(StartTest, AfterTheRateOfTheClockThatTheFirmwareGives) {
    videocore.on_set = [this](std::uint32_t, std::uint32_t) {
        videocore.clocks[uart_clock] = 48'000'000;
    };
    uart_start();
    EXPECT_EQ(bus.registers[ibrd], 26u);  // 115200 baud from 48 MHz
    EXPECT_EQ(bus.registers[fbrd], 3u);
    EXPECT_TRUE(uart_set_baud(115'200, true));
    EXPECT_FALSE(uart_set_baud(4'000'000, true));
}

TEST_F(StartTest, AUartThatStaysBusyIsStartedAllTheSame) {
    bus.registers[fr] = busy;
    uart_start();
    EXPECT_EQ(clock_changes, 1u);
    EXPECT_EQ(bus.registers[cr], 0x301u);
    EXPECT_LT(bus.microseconds(), 12'000u);
    // Nor is its report ever sent.
    const std::uint64_t began = bus.microseconds();
    uart_go_on_at_board_rate();
    EXPECT_EQ(uart_baud(), 3'000'000u);
    EXPECT_LT(bus.microseconds() - began, 151'000u);
}

TEST_F(StartTest, TheReportAt115200AndThenTheBoardsRate) {
    uart_start();
    EXPECT_EQ(uart_baud(), 115'200u);
    EXPECT_EQ(bus.registers[ibrd], 34u);  // 64 MHz / 16 / 115200 = 34.72
    EXPECT_EQ(bus.registers[fbrd], 46u);

    const std::uint64_t sent_at = bus.microseconds() + 3'000;
    bus.writes.clear();
    bus.on_read = [=, this](std::uint64_t address) -> std::optional<std::uint32_t> {
        if (address == fr) return bus.microseconds() < sent_at ? busy : 0;
        return std::nullopt;
    };
    std::uint64_t changed_at = 0;
    bus.on_write = [&](std::uint64_t address, std::uint32_t value) {
        if (address == cr && value == 0) changed_at = bus.microseconds();
        if (address == dr) {
            EXPECT_GE(bus.microseconds() - changed_at, 50'000u);
        }
    };
    uart_go_on_at_board_rate();
    EXPECT_EQ(uart_baud(), 3'000'000u);
    EXPECT_GE(changed_at, sent_at);
    EXPECT_LT(changed_at, sent_at + 100);
    EXPECT_EQ(std::tuple(bus.registers[ibrd], bus.registers[fbrd], bus.writes.back()),
              std::tuple(1u, 21u, (Write{dr, 0})));
    EXPECT_LT(bus.microseconds(), changed_at + 51'000);
}

TEST_F(StartTest, OneRateWhereTheClockCannotMakeBoth) {
    videocore.on_set = [this](std::uint32_t, std::uint32_t) {
        videocore.clocks[uart_clock] = 3'000'000;
    };  // QEMU's
    bus.registers[ibrd] = 27;
    uart_start();
    EXPECT_EQ(uart_baud(), 3'000'000u);
    const std::uint64_t began = bus.microseconds();
    bus.writes.clear();
    uart_go_on_at_board_rate();
    EXPECT_EQ(bus.writes, (std::vector<Write>{{dr, 0}}));
    EXPECT_EQ(bus.registers[ibrd], 27u);
    EXPECT_LT(bus.microseconds() - began, 10u);
}

// This test is the last one: the driver remembers that this mailbox did not answer.
TEST_F(StartTest, WithASilentMailboxTheClockIsTheCards) {
    videocore.answers = false;
    uart_start();
    EXPECT_EQ(bus.registers[ibrd], 34u);  // 115200 baud from 64 MHz
    EXPECT_EQ(bus.registers[fbrd], 46u);
    EXPECT_TRUE(uart_set_baud(4'000'000, true));
    EXPECT_LT(bus.microseconds(), 1'020'000u);
}

}  // namespace nopscope::hal::start_test
