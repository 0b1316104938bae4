// SPDX-License-Identifier: Apache-2.0
// How UARTs stop, start and change their rate: the order of writes, and a device that stays busy.
#include "hal/drivers/cadence_uart.hpp"
#include "hal/drivers/gic_view.hpp"
#include "hal/drivers/mini_uart.hpp"
#include "hal/drivers/pl011.hpp"
#include "hal/drivers/videocore_mailbox.hpp"
#include "tests/unit/hal/bus.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

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
    // LSR: never idle. Enables the auxiliary peripheral, and then disables the UART itself.
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

// ---- The mailbox: its answers, the longest wait for one, and a mailbox that does not answer.

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

// ---- Tests how gic_view() sees a distributor in each security state.

constexpr std::uint64_t gicd = 0xff84'1000;
constexpr std::uint64_t ctlr = gicd, typer = gicd + 4, igroupr = gicd + 0x80,
                        ipriorityr = gicd + 0x400;
constexpr std::uint32_t extensions = 1 << 10, disable_security = 1 << 6;

// Stores the Secure view.
class Distributor {
public:
    explicit Distributor(Bus& bus) : bus_(bus) {
        bus_.on_read = [this](std::uint64_t address) -> std::optional<std::uint32_t> {
            if (is_priority(address)) return priority(address - ipriorityr);
            if (is_group(address) && non_secure) return 0;
            return std::nullopt;
        };
        bus_.on_write = [this](std::uint64_t address, std::uint32_t value) {
            if (is_priority(address))
                set_priority(address - ipriorityr, static_cast<std::uint8_t>(value));
        };
    }
    bool non_secure = false;
    std::set<std::uint64_t> group_0;  // interrupts in group 0 of the Secure state
    std::uint8_t implemented = 0xf8;
    std::map<std::uint64_t, std::uint8_t> priorities;

private:
    static bool is_priority(std::uint64_t address) {
        return address >= ipriorityr && address < ipriorityr + 1020;
    }
    static bool is_group(std::uint64_t address) {
        return address >= igroupr && address < igroupr + 0x80;
    }
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
    Bus& bus_;
};

struct GicViewTest : ::testing::Test {
    GicViewTest() { bus.registers[typer] = extensions; }
    Bus bus;
    Distributor distributor{bus};
};

TEST_F(GicViewTest, ThePi4sNonSecureView) {
    distributor.non_secure = true;
    distributor.priorities[0] = 0xa0;
    const GicView view = gic_view(gicd, 2);
    EXPECT_EQ(std::tuple(view.security, view.priority_bits, distributor.priorities[0]),
              std::tuple(GicSecurity::non_secure, 5u, 0xa0));
}

TEST_F(GicViewTest, SgisOfTheSecureState) {
    distributor.non_secure = true;
    for (unsigned sgi = 0; sgi < 8; ++sgi) distributor.group_0.insert(sgi);
    EXPECT_EQ(gic_view(gicd, 2).priority_bits, 5u);
    for (unsigned interrupt = 0; interrupt < 32; ++interrupt) distributor.group_0.insert(interrupt);
    EXPECT_EQ(gic_view(gicd, 2).priority_bits, 0u);
}

TEST_F(GicViewTest, TheSecureViewIsSeenByItsGroups) {
    GicView view = gic_view(gicd, 2);  // all interrupts are in group 0
    EXPECT_EQ(std::tuple(view.security, view.priority_bits, bus.registers[igroupr]),
              std::tuple(GicSecurity::secure, 5u, 0u));
    bus.registers[igroupr] = 0xffff'ff00;
    EXPECT_EQ(gic_view(gicd, 2).security, GicSecurity::secure);
    EXPECT_EQ(bus.registers[igroupr], 0xffff'ff00u);
}

TEST_F(GicViewTest, WithoutExtensionsThereIsOneState) {
    bus.registers[typer] = 0;
    distributor.implemented = 0xff;
    const GicView view = gic_view(gicd, 2);
    EXPECT_EQ(view.security, GicSecurity::one_state);
    EXPECT_EQ(view.priority_bits, 8u);
    for (const Write& write : bus.writes) EXPECT_NE(write.address, igroupr);
}

TEST_F(GicViewTest, AGicv3HasSharedInterruptsAlone) {
    distributor.non_secure = true;
    distributor.priorities[32] = 0x80;
    const GicView view = gic_view(gicd, 3);
    EXPECT_EQ(std::tuple(view.security, view.priority_bits, distributor.priorities[32]),
              std::tuple(GicSecurity::non_secure, 5u, 0x80));
    for (const Write& write : bus.writes) {
        EXPECT_NE(write.address, igroupr);
        EXPECT_FALSE(write.address >= ipriorityr && write.address < ipriorityr + 32);
    }
    bus.registers[ctlr] = disable_security;
    distributor.non_secure = false;
    EXPECT_EQ(gic_view(gicd, 3).security, GicSecurity::one_state);
}

}  // namespace
}  // namespace nopscope::hal
