// SPDX-License-Identifier: Apache-2.0
// The driver of RISC-V's interrupt controllers, on one hart with a simulated CLINT and PLIC.
#include "hal/drivers/clint_plic.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hal/arch.hpp"
#include "hal/hal.hpp"
#include "hal/riscv64/registers.hpp"
#include "tests/unit/hal/bus.hpp"

namespace nopscope::hal {

// The driver calls these.
void panic(const char*) { std::abort(); }
unsigned this_core() { return 0; }

namespace clint_plic_test {

constexpr std::uint64_t clint = 0x0200'0000, plic = 0x0c00'0000, threshold = plic + 0x20'0000,
                        claim = threshold + 4;
constexpr unsigned none = 1020;

struct ClintPlicTest : ::testing::Test {
    ClintPlicTest() {
        bus.on_read = [this](std::uint64_t address) -> std::optional<std::uint32_t> {
            if (address != claim) return std::nullopt;
            // The most urgent; of equal ones that with the lowest number.
            unsigned best = 0;
            for (const unsigned source : waiting) {
                if (priority(source) > priority(best)) best = source;
            }
            waiting.erase(best);
            if (best != 0) in_service.insert(best);
            return best;
        };
        bus.on_write = [this](std::uint64_t address, std::uint32_t value) {
            if (address == claim) in_service.erase(value);
            if (address - plic - 4 < 4 * 127) bus.registers[address] = value & 7;  // three bits
        };
        controller.start();
        controller.start_core();
    }
    // What the hart would see.
    void update() {
        mip = bus.registers[clint] != 0 ? machine_software : 0;
        if (timer_is_due) mip |= machine_timer;
        for (const unsigned source : waiting) {
            if (priority(source) > bus.registers[threshold]) mip |= machine_external;
        }
    }
    bool interrupts() {
        update();
        return (mip & mie) != 0;
    }
    std::uint32_t acknowledge() {
        update();
        return controller.acknowledge();
    }
    std::uint32_t priority(unsigned source) { return bus.registers[plic + 4 * source]; }

    Bus bus;
    std::set<unsigned> waiting, in_service;
    bool timer_is_due = false;
    const ClintPlic controller{clint, plic};
};

unsigned number_of(std::uint32_t acknowledged) { return acknowledged & 0x3ff; }

TEST_F(ClintPlicTest, AMoreUrgentDevicePreemptsAndALessUrgentOneWaits) {
    for (const auto [source, level] : {std::pair{1u, 0u}, {2u, 7u}, {3u, 14u}}) {
        EXPECT_TRUE(controller.enable(32 + source, priority_value(level)));
    }
    EXPECT_EQ(priority(1), 7u);
    EXPECT_EQ(priority(3), 1u);
    waiting = {2};
    ASSERT_TRUE(interrupts());
    const auto second = acknowledge();
    EXPECT_EQ(number_of(second), 34u);
    waiting = {3};
    EXPECT_FALSE(interrupts());
    waiting.insert(1);
    ASSERT_TRUE(interrupts());
    const auto first = acknowledge();
    EXPECT_EQ(number_of(first), 33u);
    EXPECT_FALSE(interrupts());
    controller.finish(first);
    EXPECT_EQ(in_service, std::set{2u});
    EXPECT_FALSE(interrupts());
    controller.finish(second);
    EXPECT_TRUE(in_service.empty());
    ASSERT_TRUE(interrupts());
    EXPECT_EQ(number_of(acknowledge()), 35u);
}

TEST_F(ClintPlicTest, AClaimThatIsNotUrgentEnoughIsGivenBack) {
    controller.enable(32 + 1, priority_value(0));
    controller.enable(32 + 3, priority_value(14));
    waiting = {1};
    const auto first = acknowledge();
    waiting = {3};
    mip = machine_external;  // another one was there, and is gone
    EXPECT_EQ(number_of(controller.acknowledge()), none);
    EXPECT_EQ(in_service, std::set{1u});
    controller.finish(first);
}

TEST_F(ClintPlicTest, ADisabledDeviceIsCompletedAllTheSame) {
    controller.enable(32 + 5, priority_value(3));
    waiting = {5};
    const auto five = acknowledge();
    controller.disable(32 + 5);
    EXPECT_EQ(bus.registers[plic + 0x2000] >> 5 & 1, 1u);  // or the PLIC ignores the completion
    controller.finish(five);
    EXPECT_TRUE(in_service.empty());
    waiting = {5};
    EXPECT_FALSE(interrupts());
}

TEST_F(ClintPlicTest, SoftwareInterruptsShareOneBit) {
    for (const unsigned number : {0u, 1u, 2u, 7u}) {
        controller.enable(number, number == 7 ? most_urgent : priority_value(2 * number + 1));
    }
    controller.enable(timer_interrupt, priority_value(2));
    controller.raise_interrupt(0, 1);
    const auto one = acknowledge();
    EXPECT_EQ(number_of(one), 1u);
    EXPECT_FALSE(interrupts());
    controller.raise_interrupt(0, 2);  // less urgent: the bit is set, and nothing is due
    ASSERT_TRUE(interrupts());
    EXPECT_EQ(number_of(acknowledge()), none);
    EXPECT_FALSE(interrupts());
    timer_is_due = true;
    ASSERT_TRUE(interrupts());
    const auto timer = acknowledge();
    EXPECT_EQ(number_of(timer), timer_interrupt);
    EXPECT_FALSE(interrupts());  // although the timer is still due
    controller.raise_interrupt(0, 7);
    const auto call = acknowledge();
    EXPECT_EQ(number_of(call), 7u);
    timer_is_due = false;
    controller.finish(call);
    controller.finish(timer);
    EXPECT_FALSE(interrupts());
    controller.finish(one);
    ASSERT_TRUE(interrupts());
    EXPECT_EQ(number_of(acknowledge()), 2u);
}

TEST_F(ClintPlicTest, ADisabledSoftwareInterruptIsKept) {
    controller.enable(4, priority_value(4));
    controller.disable(4);
    controller.raise_interrupt(0, 4);
    EXPECT_EQ(number_of(acknowledge()), none);
    EXPECT_FALSE(interrupts());
    controller.enable(4, priority_value(4));
    ASSERT_TRUE(interrupts());
    EXPECT_EQ(number_of(acknowledge()), 4u);
}

TEST_F(ClintPlicTest, TheTimerComparesWith64Bits) {
    clint_compare(clint, 2, 0x1234'5678'9abc'def0);
    EXPECT_EQ(bus.registers[clint + 0x4010], 0x9abc'def0u);
    EXPECT_EQ(bus.registers[clint + 0x4014], 0x1234'5678u);
}

}  // namespace clint_plic_test
}  // namespace nopscope::hal
