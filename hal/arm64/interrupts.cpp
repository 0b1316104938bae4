// SPDX-License-Identifier: Apache-2.0
// From the IRQ vector to a handler. While it runs, interrupts are unmasked and the controller's
// running priority is the handler's, so only more urgent ones come through: they nest as deep as
// there are priorities and stack.
#include "hal/arm64/interrupts.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned interrupt_limit = 512;  // both boards have fewer than 300
constexpr unsigned priorities = 16;
Handler handlers[interrupt_limit];

// One call of `operation` with the board's controller. The branch is the whole price of choosing it
// by a table.
template <typename Operation>
inline auto with_gic(Operation operation) {
    const GicConfig& gic = board.gic;
    if (gic.version == GicVersion::v2) return operation(Gicv2{gic.distributor, gic.second});
    return operation(Gicv3{gic.distributor, gic.second});
}

}  // namespace

void interrupts_start() {
    timer_disarm();
    with_gic([](auto gic) { gic.start(); });
}

void set_handler(unsigned interrupt, unsigned priority, Handler handler) {
    if (interrupt >= interrupt_limit) panic("set_handler: no such interrupt");
    if (priority >= priorities) panic("set_handler: priorities are 0..15");
    const InterruptsMasked masked;
    handlers[interrupt] = handler;
    with_gic([=](auto gic) { gic.enable(interrupt, priority); });
}

void disable_interrupt(unsigned interrupt) {
    if (interrupt >= interrupt_limit) panic("disable_interrupt: no such interrupt");
    with_gic([=](auto gic) { gic.disable(interrupt); });
}

void raise_sgi(unsigned sgi) {
    if (sgi >= 16) panic("raise_sgi: SGIs are 0..15");
    with_gic([=](auto gic) { gic.raise_sgi(sgi); });
}

bool interrupts_enabled() {
    constexpr std::uint64_t irq_masked = 1 << 7;
    return (read_daif() & irq_masked) == 0;
}
void enable_interrupts() { asm volatile("msr daifclr, #2" ::: "memory"); }
void disable_interrupts() { asm volatile("msr daifset, #2" ::: "memory"); }
void wait_for_interrupt() { asm volatile("dsb sy\n\twfi" ::: "memory"); }

}  // namespace nopscope::hal

using namespace nopscope::hal;

void nopscope_interrupt(IrqFrame*) {
    const std::uint32_t acknowledged = with_gic([](auto gic) { return gic.acknowledge(); });
    const unsigned interrupt = acknowledged & 0x3ff;
    if (interrupt >= gic_first_special) return;  // withdrawn meanwhile
    const Handler handler = interrupt < interrupt_limit ? handlers[interrupt] : nullptr;
    if (handler == nullptr) panic("an interrupt without a handler");
    enable_interrupts();
    handler(interrupt);
    disable_interrupts();
    with_gic([=](auto gic) { gic.finish(acknowledged); });
}
