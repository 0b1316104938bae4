// SPDX-License-Identifier: Apache-2.0
// Tests how gic_view() sees a distributor in each security state.
#include "hal/drivers/gic_view.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal {
namespace {

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
    EXPECT_EQ(view.security, GicSecurity::non_secure);
    EXPECT_EQ(view.priority_bits, 5u);
    EXPECT_EQ(distributor.priorities[0], 0xa0);
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
    EXPECT_EQ(view.security, GicSecurity::secure);
    EXPECT_EQ(view.priority_bits, 5u);
    EXPECT_EQ(bus.registers[igroupr], 0u);
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
    EXPECT_EQ(view.security, GicSecurity::non_secure);
    EXPECT_EQ(view.priority_bits, 5u);
    EXPECT_EQ(distributor.priorities[32], 0x80);
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
