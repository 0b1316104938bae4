// SPDX-License-Identifier: Apache-2.0
// The interrupts of the Raspberry Pi 2 and 3: "ARM quad A7 core" (QA7_rev3.4, 4), a few registers a core,
// and behind it the VideoCore's controller ("BCM2835 ARM Peripherals", 7), which leads to core 0 here.
//
// Neither knows priorities, nor what is being handled. So the driver does: it closes lines that are not
// more urgent than what runs, and opens them again at its end. SGIs are the bits of a core's
// mailbox 0, a single line: those that come too early are held back and put into it again.
//
// Interrupts by the numbers of a GIC: SGIs 0..15, the virtual timer 27, and 32 + n for the VideoCore's
// n, 0..63.
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
    void raise_sgi(unsigned core, unsigned sgi) const;

private:
    void open_more_urgent_than_running(unsigned core) const;
    void open_shared(std::uint64_t lines) const;
    std::uint64_t local_;
    std::uint64_t videocore_;
};
static_assert(InterruptController<Bcm2836Interrupts>);

}  // namespace nopscope::hal
