// SPDX-License-Identifier: Apache-2.0
// How UARTs stop, start and change their rate: the order of writes, and a device that stays busy.
#include <gtest/gtest.h>

#include "hal/drivers/cadence_uart.hpp"
#include "hal/drivers/mini_uart.hpp"
#include "hal/drivers/pl011.hpp"
#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal {
namespace {

constexpr std::uint64_t base = 0x9000;
// Registers of the PL011.
constexpr std::uint64_t fr = base + 0x18, ibrd = base + 0x24, fbrd = base + 0x28,
                        lcr_h = base + 0x2c, cr = base + 0x30, imsc = base + 0x38,
                        icr = base + 0x44;
constexpr std::uint32_t busy = 1 << 3, fifos_8_bits = 0x70, enabled = 0x301;

using Writes = std::vector<Write>;

TEST(Pl011Test, IsDisabledAndFlushedBeforeAnythingElse) {
    Bus bus;
    Pl011(base).stop();
    EXPECT_EQ(bus.writes, (Writes{{cr, 0}, {lcr_h, 0}, {imsc, 0}, {icr, 0x7ff}}));
}

TEST(Pl011Test, DivisorsThenFormatThenOn) {
    Bus bus;
    Pl011(base).start(64'000'000, 3'000'000);
    EXPECT_EQ(bus.writes, (Writes{{ibrd, 1}, {fbrd, 21}, {lcr_h, fifos_8_bits}, {cr, enabled}}));
}

TEST(Pl011Test, KeepsTheDivisorsOfAnEmulatedOne) {
    Bus bus;
    Pl011(base).start(0, 3'000'000);
    EXPECT_EQ(bus.writes, (Writes{{lcr_h, fifos_8_bits}, {cr, enabled}}));
}

TEST(Pl011Test, AnotherRateWhileDisabledAndFlushed) {
    Bus bus;
    Pl011(base).set_baud(64'000'000, 4'000'000);
    EXPECT_EQ(
        bus.writes,
        (Writes{{cr, 0}, {lcr_h, 0}, {ibrd, 1}, {fbrd, 0}, {lcr_h, fifos_8_bits}, {cr, enabled}}));
}

TEST(Pl011Test, WaitsForTheCharacterThatIsBeingSent) {
    Bus bus;
    std::size_t writes_when_idle = 0;
    bus.on_read = [&](std::uint64_t address) -> std::optional<std::uint32_t> {
        if (address != fr || bus.microseconds() < 87) return busy;  // ten bits at 115200
        writes_when_idle = bus.writes.size();
        return 0;
    };
    Pl011(base).stop();
    EXPECT_EQ(writes_when_idle, 1u);  // only CR
    EXPECT_LT(bus.microseconds(), 100u);
}

// A device that is stuck: the driver has waited for it.
void expect_ten_milliseconds(const Bus& bus) {
    EXPECT_GE(bus.microseconds(), 10'000u);
    EXPECT_LT(bus.microseconds(), 10'100u);
}

TEST(Pl011Test, WaitsTenMillisecondsAtMost) {
    Bus bus;
    bus.registers[fr] = busy;
    Pl011(base).stop();
    expect_ten_milliseconds(bus);
    EXPECT_EQ(bus.writes, (Writes{{cr, 0}, {lcr_h, 0}, {imsc, 0}, {icr, 0x7ff}}));
}

TEST(MiniUartTest, WaitsTenMillisecondsAtMost) {
    Bus bus;  // LSR reads 0: never idle
    MiniUart(base).stop();
    expect_ten_milliseconds(bus);
    // Enables the mini UART among the auxiliary peripherals, and then disables the UART itself.
    EXPECT_EQ(bus.writes,
              (Writes{{base + 0x04, 1}, {base + 0x60, 0}, {base + 0x44, 0}, {base + 0x50, 0}}));
}

TEST(MiniUartTest, TheDivisorWhileDisabled) {
    Bus bus;
    MiniUart(base).set_baud(500'000'000, 1'000'000);
    EXPECT_EQ(bus.writes, (Writes{{base + 0x60, 0},
                                  {base + 0x68, 62},
                                  {base + 0x4c, 3},
                                  {base + 0x48, 6},
                                  {base + 0x60, 3}}));
}

TEST(CadenceTest, WaitsTenMillisecondsAtMost) {
    Bus bus;  // the status reads 0: not empty
    CadenceUart(base).stop();
    expect_ten_milliseconds(bus);
    EXPECT_EQ(bus.writes, (Writes{{base + 0x00, 0x28}, {base + 0x0c, 0x1fff}}));
}

TEST(CadenceTest, AResetThatDoesNotEndIsLeft) {
    Bus bus;  // the control register reads as written: the reset bits stay
    CadenceUart(base).set_baud(100'000'000, 2'000'000);
    expect_ten_milliseconds(bus);
    EXPECT_EQ(bus.writes, (Writes{{base + 0x00, 0x28},
                                  {base + 0x18, 1},
                                  {base + 0x34, 49},
                                  {base + 0x04, 0x20},
                                  {base + 0x00, 0x2b},
                                  {base + 0x00, 0x14}}));
}

}  // namespace
}  // namespace nopscope::hal
