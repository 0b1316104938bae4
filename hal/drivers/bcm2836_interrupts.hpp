// SPDX-License-Identifier: Apache-2.0
// The interrupts of the Raspberry Pi 2 and 3: a few registers for each core ("ARM quad A7 core",
// QA7_rev3.4, 4), and the VideoCore's controller behind them ("BCM2835 ARM Peripherals", 7), which
// interrupts core 0.
//
// Neither has priorities or knows which handler runs. So the driver closes lines that are not more
// urgent than the running handler, and opens them when it ends. SGIs are bits of a core's mailbox
// 0, a single line: the driver holds back an SGI that comes too early, and posts it again.
//
// Numbers are like a GIC's: SGIs 0..15, virtual timer 27, and 32 + n for the VideoCore's n, 0..63.
#pragma once

#include "hal/drivers/interrupt_controller.hpp"

namespace nopscope::hal {

class Bcm2836Interrupts {
public:
    constexpr Bcm2836Interrupts(std::uint64_t local, std::uint64_t videocore)
        : local_(local), videocore_(videocore) {}
    void start() const;
    void start_core() const;
    void stop_core() const;
    bool enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_interrupt(unsigned core, unsigned sgi) const;

private:
    void open_more_urgent_than_running(unsigned core) const;
    void open_shared(std::uint64_t lines) const;
    std::uint64_t local_;
    std::uint64_t videocore_;
};
static_assert(InterruptController<Bcm2836Interrupts>);

}  // namespace nopscope::hal
