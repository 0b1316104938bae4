// SPDX-License-Identifier: Apache-2.0
// The mailbox: its answers, the longest wait for one, and a mailbox that does not answer.
#include "hal/drivers/videocore_mailbox.hpp"

#include <gtest/gtest.h>

#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal {
namespace {

// Each test has its own mailbox, because the driver remembers a mailbox that did not answer.
class MailboxTest : public ::testing::Test {
protected:
    static inline std::uint64_t next_base = 0x1000;
    const std::uint64_t base = next_base += 0x1000;
    Bus bus;
    SimulatedVideocore videocore{bus, base};
    const VideocoreMailbox mailbox{base};
};

TEST_F(MailboxTest, TheFirmwaresClocks) {
    videocore.clocks = {{2, 48'000'000}, {3, 600'000'000}, {4, 500'000'000}};
    EXPECT_EQ(mailbox.uart_clock_hz(), 48'000'000u);
    EXPECT_EQ(mailbox.core_clock_hz(), 500'000'000u);
    mailbox.set_uart_clock_hz(64'000'000);
    EXPECT_EQ(mailbox.uart_clock_hz(), 64'000'000u);
    EXPECT_FALSE(mailbox.is_silent());
}

TEST_F(MailboxTest, TheArmClockIsMeasuredIfItCanBe) {
    videocore.clocks = {{3, 1'500'000'000}};
    EXPECT_EQ(mailbox.arm_clock_hz(), 1'500'000'000u);
    videocore.measured = {{3, 1'499'999'232}};
    EXPECT_EQ(mailbox.arm_clock_hz(), 1'499'999'232u);
}

TEST_F(MailboxTest, AnAnswerMayTakeNearlyASecond) {
    videocore.clocks = {{2, 48'000'000}};
    videocore.answers_after_us = 990'000;
    EXPECT_EQ(mailbox.uart_clock_hz(), 48'000'000u);
    EXPECT_FALSE(mailbox.is_silent());
}

TEST_F(MailboxTest, ASilentMailboxIsAskedOnceForASecond) {
    videocore.answers = false;
    EXPECT_FALSE(mailbox.is_silent());
    EXPECT_EQ(mailbox.uart_clock_hz(), 0u);
    EXPECT_TRUE(mailbox.is_silent());
    EXPECT_GE(bus.microseconds(), 1'000'000u);
    EXPECT_LT(bus.microseconds(), 1'010'000u);
    EXPECT_EQ(mailbox.arm_clock_hz(), 0u);
    EXPECT_EQ(mailbox.arm_memory_end(), 0u);
    EXPECT_LT(bus.microseconds(), 1'010'000u);
    EXPECT_EQ(videocore.questions, 1u);
}

TEST_F(MailboxTest, AFullMailboxIsSilent) {
    bus.registers[base + 0x38] = 1u << 31;
    EXPECT_EQ(mailbox.uart_clock_hz(), 0u);
    EXPECT_TRUE(mailbox.is_silent());
    EXPECT_GE(bus.microseconds(), 1'000'000u);
    EXPECT_LT(bus.microseconds(), 1'010'000u);
    EXPECT_TRUE(bus.writes.empty());
}

}  // namespace
}  // namespace nopscope::hal
