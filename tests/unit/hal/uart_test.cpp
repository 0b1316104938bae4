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

struct Use {
    const char* name;
    void (*use)();
    Writes writes;
    bool waits = false;       // ten milliseconds for a device that is stuck
    std::uint32_t flags = 0;  // what the PL011's flag register reads; other registers read 0
};
const Writes pl011_stops{{cr, 0}, {lcr_h, 0}, {imsc, 0}, {icr, 0x7ff}};

const Use uses[] = {
    {"a PL011 is disabled and flushed before anything else", [] { Pl011(base).stop(); },
     pl011_stops},
    {"a PL011 that stays busy", [] { Pl011(base).stop(); }, pl011_stops, true, busy},
    {"divisors, then format, then on",
     [] { Pl011(base).start(64'000'000, 3'000'000); },
     {{ibrd, 1}, {fbrd, 21}, {lcr_h, fifos_8_bits}, {cr, enabled}}},
    {"an emulated PL011 keeps its divisors",
     [] { Pl011(base).start(0, 3'000'000); },
     {{lcr_h, fifos_8_bits}, {cr, enabled}}},
    {"another rate while disabled and flushed",
     [] { Pl011(base).set_baud(64'000'000, 4'000'000); },
     {{cr, 0}, {lcr_h, 0}, {ibrd, 1}, {fbrd, 0}, {lcr_h, fifos_8_bits}, {cr, enabled}}},
    // LSR: never idle. Enables the mini UART among the auxiliary peripherals, and then disables the
    // UART itself.
    {"a mini UART that stays busy",
     [] { MiniUart(base).stop(); },
     {{base + 0x04, 1}, {base + 0x60, 0}, {base + 0x44, 0}, {base + 0x50, 0}},
     true},
    {"a mini UART's divisor while disabled",
     [] { MiniUart(base).set_baud(500'000'000, 1'000'000); },
     {{base + 0x60, 0}, {base + 0x68, 62}, {base + 0x4c, 3}, {base + 0x48, 6}, {base + 0x60, 3}}},
    // The status: not empty.
    {"a Cadence UART that stays busy",
     [] { CadenceUart(base).stop(); },
     {{base + 0x00, 0x28}, {base + 0x0c, 0x1fff}},
     true},
    // The control register reads as written: the reset bits stay.
    {"a reset that does not end is left",
     [] { CadenceUart(base).set_baud(100'000'000, 2'000'000); },
     {{base + 0x00, 0x28},
      {base + 0x18, 1},
      {base + 0x34, 49},
      {base + 0x04, 0x20},
      {base + 0x00, 0x2b},
      {base + 0x00, 0x14}},
     true},
};

TEST(UartTest, WritesInThisOrderAndWaitsTenMillisecondsAtMost) {
    for (const Use& one : uses) {
        SCOPED_TRACE(one.name);
        Bus bus;
        bus.registers[fr] = one.flags;
        one.use();
        EXPECT_EQ(bus.writes, one.writes);
        EXPECT_LT(bus.microseconds(), 10'100u);
        EXPECT_GE(bus.microseconds(), one.waits ? 10'000u : 0);
    }
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

}  // namespace
}  // namespace nopscope::hal
