// SPDX-License-Identifier: Apache-2.0
// The usual interrupt controllers of RISC-V: the CLINT (SiFive's "Core-Local Interruptor"; in the
// ACLINT specification MSWI and MTIMER) for a hart's software interrupt and timer, and the PLIC
// ("RISC-V Platform-Level Interrupt Controller Specification") for devices, which interrupt core 0.
// Core n is hart n, and its machine mode is the PLIC's context 2n.
//
// A hart has one bit for software interrupts: the driver keeps a mask of those that were raised.
// The CLINT has no priorities, so the driver holds back what is not more urgent than the running
// handler. The PLIC has a threshold; where it has fewer than fifteen priorities, neighbours share
// one.
//
// Numbers: software interrupts 0..15, the timer (hal/arch.hpp), and 32 + n for the PLIC's source n.
#pragma once

#include "hal/drivers/interrupt_controller.hpp"

namespace nopscope::hal {

class ClintPlic {
public:
    constexpr ClintPlic(std::uint64_t clint, std::uint64_t plic) : clint_(clint), plic_(plic) {}
    void start() const;
    void start_core() const;
    void stop_core() const;
    bool enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_interrupt(unsigned core, unsigned number) const;

private:
    void open_more_urgent_than_running(unsigned core) const;
    std::uint64_t clint_;
    std::uint64_t plic_;
};
static_assert(InterruptController<ClintPlic>);

// The timer of `core` interrupts while `time` is at least `at`.
void clint_compare(std::uint64_t clint, unsigned core, std::uint64_t at);
// How many priorities the PLIC has. Boot, before start().
unsigned plic_priorities(std::uint64_t plic);

}  // namespace nopscope::hal
