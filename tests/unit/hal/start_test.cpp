// SPDX-License-Identifier: Apache-2.0
// The start of the Raspberry Pi 4's UART: hal/uart.cpp and the board's own table, with pins, mailbox and PL011 simulated.
#include <gtest/gtest.h>

#include "hal/console.hpp"
#include "hal/hal.hpp"
#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal {
namespace {

constexpr std::uint64_t uart = 0xfe20'1000, mailbox = 0xfe00'b880;
constexpr std::uint64_t fr = uart + 0x18, ibrd = uart + 0x24, fbrd = uart + 0x28, lcr_h = uart + 0x2c, cr = uart + 0x30;
constexpr std::uint32_t uart_clock = 2;

class StartTest : public ::testing::Test {
protected:
    StartTest() {
        bus.registers[cr] = 0x301;  // as the boot firmware leaves it
        videocore.on_set = [this](std::uint32_t clock, std::uint32_t) {
            EXPECT_EQ(clock, uart_clock);
            EXPECT_EQ(bus.registers[cr], 0u);
            EXPECT_EQ(bus.registers[lcr_h], 0u);
            ++clock_changes;
        };
    }
    Bus bus;
    SimulatedVideocore videocore{bus, mailbox};
    unsigned clock_changes = 0;
};

TEST_F(StartTest, TheClockChangesWhileTheUartIsDisabledAndFlushed) {
    uart_start();
    EXPECT_EQ(clock_changes, 1u);
    EXPECT_EQ(videocore.clocks[uart_clock], 64'000'000u);
    EXPECT_EQ(bus.writes.front(), (Write{cr, 0}));
    EXPECT_LT(bus.first(lcr_h, 0), bus.first(ibrd, bus.registers[ibrd]));
    EXPECT_EQ(bus.registers[cr], 0x301u);
}

TEST_F(StartTest, AfterTheRateOfTheClockThatTheFirmwareGives) {
    videocore.on_set = [this](std::uint32_t, std::uint32_t) { videocore.clocks[uart_clock] = 48'000'000; };
    uart_start();
    EXPECT_EQ(bus.registers[ibrd], 1u);
    EXPECT_EQ(bus.registers[fbrd], 0u);
    EXPECT_TRUE(uart_set_baud(115'200, true));
    EXPECT_FALSE(uart_set_baud(4'000'000, true));
}

TEST_F(StartTest, AUartThatStaysBusyIsStartedAllTheSame) {
    bus.registers[fr] = 1 << 3;
    uart_start();
    EXPECT_EQ(clock_changes, 1u);
    EXPECT_EQ(bus.registers[cr], 0x301u);
    EXPECT_LT(bus.microseconds(), 12'000u);
}

// The last one: the driver remembers that this mailbox was silent.
TEST_F(StartTest, WithASilentMailboxTheClockIsTheCards) {
    videocore.answers = false;
    uart_start();
    EXPECT_EQ(bus.registers[ibrd], 1u);  // 3 Mbaud of 64 MHz
    EXPECT_EQ(bus.registers[fbrd], 21u);
    EXPECT_TRUE(uart_set_baud(4'000'000, true));
    EXPECT_LT(bus.microseconds(), 1'020'000u);
}

}  // namespace
}  // namespace nopscope::hal
