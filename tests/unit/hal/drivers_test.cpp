// SPDX-License-Identifier: Apache-2.0
// UARTs: the order of writes, and a device that stays busy. Then the mailbox and the GIC.
#include "hal/drivers/cadence_uart.hpp"
#include "hal/drivers/gic_view.hpp"
#include "hal/drivers/mini_uart.hpp"
#include "hal/drivers/pl011.hpp"
#include "hal/drivers/uart16550.hpp"
#include "hal/drivers/videocore_mailbox.hpp"
#include "tests/unit/hal/bus.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace nopscope::hal::drivers_test {

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
    // LSR: never idle. Enables the auxiliary peripheral, and then disables the UART itself.
    {"a mini UART that stays busy",
     [] { MiniUart(base).stop(); },
     {{base + 0x04, 1}, {base + 0x60, 0}, {base + 0x44, 0}, {base + 0x50, 0}},
     true},
    {"a mini UART's divisor while disabled",
     [] { MiniUart(base).set_baud(500'000'000, 1'000'000); },
     {{base + 0x60, 0}, {base + 0x68, 62}, {base + 0x4c, 3}, {base + 0x48, 6}, {base + 0x60, 3}}},
    // LSR: never idle.
    {"a 16550 that stays busy",
     [] { Uart16550(base).stop(); },
     {{base + 1, 0}, {base + 4, 0}},
     true},
    {"a 16550's divisor, then format, then FIFOs",
     [] { Uart16550(base).start(48'000'000, 9'600); },
     {{base + 3, 0x80}, {base, 313 % 256}, {base + 1, 313 / 256}, {base + 3, 3}, {base + 2, 0x87}}},
    {"an emulated 16550 keeps its divisor",
     [] { Uart16550(base).start(0, 3'000'000); },
     {{base + 3, 3}, {base + 2, 0x87}}},
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

// Each test has its own mailbox, because the driver remembers a mailbox that did not answer.
struct MailboxTest : ::testing::Test {
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
    videocore.answers_after_us = 990'000;  // an answer may take nearly a second
    EXPECT_EQ(mailbox.uart_clock_hz(), 64'000'000u);
    EXPECT_FALSE(mailbox.is_silent());
}

TEST_F(MailboxTest, TheArmClockIsMeasuredIfItCanBe) {
    videocore.clocks = {{3, 1'500'000'000}};
    EXPECT_EQ(mailbox.arm_clock_hz(), 1'500'000'000u);
    videocore.measured = {{3, 1'499'999'232}};
    EXPECT_EQ(mailbox.arm_clock_hz(), 1'499'999'232u);
}

TEST_F(MailboxTest, OneThatIsSilentOrFullIsAskedOnceForASecond) {
    for (const bool full : {false, true}) {
        Bus its;
        SimulatedVideocore silent(its, base + 0x100 * full);
        silent.answers = false;
        if (full) its.registers[base + 0x100 + 0x38] = 1u << 31;
        const VideocoreMailbox one{base + 0x100 * full};
        EXPECT_FALSE(one.is_silent());
        EXPECT_EQ(one.uart_clock_hz(), 0u);
        EXPECT_TRUE(one.is_silent());
        EXPECT_GE(its.microseconds(), 1'000'000u);
        EXPECT_EQ(one.arm_clock_hz() + one.arm_memory_end(), 0u);
        EXPECT_LT(its.microseconds(), 1'010'000u);
        EXPECT_EQ(silent.questions, full ? 0u : 1u);
        EXPECT_EQ(its.writes.empty(), full);
    }
}

constexpr std::uint64_t gicd = 0xff84'1000;
constexpr std::uint64_t ctlr = gicd, typer = gicd + 4, igroupr = gicd + 0x80,
                        ipriorityr = gicd + 0x400;
constexpr std::uint32_t extensions = 1 << 10, disable_security = 1 << 6;

// Stores the Secure view.
struct Distributor {
    explicit Distributor(Bus& bus) {
        bus.on_read = [this](std::uint64_t address) -> std::optional<std::uint32_t> {
            if (address - ipriorityr < 1020) return priority(address - ipriorityr);
            if (address - igroupr < 0x80 && non_secure) return 0;
            return std::nullopt;
        };
        bus.on_write = [this](std::uint64_t address, std::uint32_t value) {
            if (address - ipriorityr < 1020)
                set_priority(address - ipriorityr, static_cast<std::uint8_t>(value));
        };
    }
    bool non_secure = false;
    std::set<std::uint64_t> group_0;  // interrupts in group 0 of the Secure state
    std::uint8_t implemented = 0xf8;
    std::map<std::uint64_t, std::uint8_t> priorities;

private:
    std::uint8_t priority(std::uint64_t interrupt) {
        const std::uint8_t stored = priorities[interrupt];
        if (!non_secure) return stored;
        if (group_0.contains(interrupt) || (stored & 0x80) == 0) return 0;
        return static_cast<std::uint8_t>(stored << 1);
    }
    void set_priority(std::uint64_t interrupt, std::uint8_t value) {
        if (non_secure && group_0.contains(interrupt)) return;
        const unsigned stored = non_secure ? value >> 1 | 0x80 : value;
        priorities[interrupt] = static_cast<std::uint8_t>(stored & implemented);
    }
};

TEST(GicViewTest, IsFoundInEachStateAndAllIsLeftAsItWas) {
    const struct {
        const char* name;
        GicView view;
        unsigned version = 2;
        bool non_secure = false;
        unsigned group_0 = 0;  // how many interrupts are in group 0 of the Secure state
        std::uint32_t type = extensions, control = 0, groups = 0;
        std::uint8_t implemented = 0xf8;
    } cases[] = {
        {"the Pi 4's Non-secure view", {GicSecurity::non_secure, 5}, 2, true},
        {"SGIs of the Secure state", {GicSecurity::non_secure, 5}, 2, true, 8},
        {"all of the Secure state", {GicSecurity::non_secure, 0}, 2, true, 32},
        {"all in group 0", {GicSecurity::secure, 5}},
        {"some in group 1", {GicSecurity::secure, 5}, 2, false, 0, extensions, 0, 0xffff'ff00},
        {"one state", {GicSecurity::one_state, 8}, 2, false, 0, 0, 0, 0, 0xff},
        {"shared interrupts alone", {GicSecurity::non_secure, 5}, 3, true},
        {"DS", {GicSecurity::one_state, 5}, 3, false, 0, extensions, disable_security},
    };
    for (const auto& one : cases) {
        SCOPED_TRACE(one.name);
        Bus bus;
        Distributor distributor(bus);
        distributor.non_secure = one.non_secure;
        distributor.implemented = one.implemented;
        for (unsigned n = 0; n < one.group_0; ++n) distributor.group_0.insert(n);
        for (const unsigned n : {0u, 32u}) distributor.priorities[n] = 0xa0;
        bus.registers = {{typer, one.type}, {ctlr, one.control}, {igroupr, one.groups}};
        const GicView view = gic_view(gicd, one.version);
        EXPECT_EQ(view.security, one.view.security);
        EXPECT_EQ(view.priority_bits, one.view.priority_bits);
        EXPECT_EQ(bus.registers[igroupr], one.groups);
        for (const unsigned n : {0u, 32u}) EXPECT_EQ(distributor.priorities[n], 0xa0);
        for (const Write& write : bus.writes) {
            EXPECT_TRUE(write.address != igroupr || (one.version == 2 && one.type != 0));
            EXPECT_TRUE(one.version == 2 || write.address < ipriorityr ||
                        write.address >= ipriorityr + 32);
        }
    }
}

}  // namespace nopscope::hal::drivers_test
