// SPDX-License-Identifier: Apache-2.0
// From the IRQ vector to a handler. While a handler runs, interrupts are unmasked. The controller's
// running priority is the handler's, so only more urgent interrupts get through. They nest as deep
// as priorities and stack allow.
#include "hal/arm64/interrupts.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/cores.hpp"
#include "hal/drivers/bcm2836_interrupts.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned interrupt_limit = 512;  // every board has fewer than 300
Handler handlers[interrupt_limit];

struct alignas(64) Depth {
    volatile unsigned value;
    std::uint64_t thread_pc;      // while value is not 0
    const ExceptionFrame* frame;  // while value is not 0: what the running handler has interrupted
};
Depth depths[max_cores];
InterruptObserver observer;
void (*after_interrupt)();

// Calls `operation` with the board's controller. This branch is the whole cost of a table of
// boards.
template <typename Operation>
inline auto with_controller(Operation operation) {
    const InterruptConfig& config = board.interrupts;
    if (config.controller == Controller::gic_v2)
        return operation(Gicv2{config.base, config.second});
    if (config.controller == Controller::gic_v3)
        return operation(Gicv3{config.base, config.second});
    return operation(Bcm2836Interrupts{config.base, config.second});
}

}  // namespace

void interrupts_start() {
    with_controller([](auto controller) { controller.start(); });
    interrupts_start_core();
}

void interrupts_start_core() {
    timer_disarm();
    with_controller([](auto controller) {
        controller.start_core();
        if (!controller.enable(core_call_sgi, most_urgent)) {
            panic(
                "core calls need SGI 7, and firmware at EL3 keeps it for itself (GICD_IGROUPR0 or "
                "GICR_IGROUPR0, bit 7)");
        }
    });
}

void interrupts_stop_core() {
    with_controller([](auto controller) { controller.stop_core(); });
}

unsigned interrupt_depth() { return depths[this_core()].value; }
const volatile std::uint32_t* interrupt_depth_of(unsigned core) { return &depths[core].value; }

std::uint64_t interrupted_pc() { return depths[this_core()].thread_pc; }
InterruptedRegisters interrupted_registers() {
    const ExceptionFrame& frame = *depths[this_core()].frame;
    return {frame.x, frame.sp, frame.elr};
}

void set_handler(unsigned interrupt, unsigned priority, Handler handler) {
    if (interrupt >= interrupt_limit) panic("set_handler: no such interrupt");
    if (interrupt == core_call_sgi) panic("set_handler: SGI 7 is the HAL's");
    if (priority >= priorities) panic("set_handler: priorities are 0..14");
    const InterruptsMasked masked;
    handlers[interrupt] = handler;
    const std::uint8_t value = priority_value(priority);
    if (!with_controller([=](auto controller) { return controller.enable(interrupt, value); })) {
        panic(
            "set_handler: the interrupt cannot be enabled: firmware at EL3 keeps it for itself, or "
            "it is not there");
    }
}

void disable_interrupt(unsigned interrupt) {
    if (interrupt >= interrupt_limit) panic("disable_interrupt: no such interrupt");
    if (interrupt == core_call_sgi) panic("disable_interrupt: SGI 7 is the HAL's");
    with_controller([=](auto controller) { controller.disable(interrupt); });
}

void raise_interrupt(unsigned sgi) { raise_interrupt_on(this_core(), sgi); }

void raise_interrupt_on(unsigned core, unsigned sgi) {
    if (sgi >= core_call_sgi) panic("raise_interrupt: SGIs are 0..6");
    if (core >= max_cores) panic("raise_interrupt_on: no such core");
    with_controller([=](auto controller) { controller.raise_interrupt(core, sgi); });
}

void raise_core_call(unsigned core) {
    with_controller([=](auto controller) { controller.raise_interrupt(core, core_call_sgi); });
}

bool interrupts_enabled() {
    constexpr std::uint64_t irq_masked = 1 << 7;
    return (read_daif() & irq_masked) == 0;
}
void set_after_interrupt(void (*to)()) { after_interrupt = to; }
void set_interrupt_observer(const InterruptObserver& to) { observer = to; }
void enable_interrupts() {
    if (observer.interrupts_unmasked != nullptr) observer.interrupts_unmasked();
    asm volatile("msr daifclr, #2" ::: "memory");
}
void disable_interrupts() {
    asm volatile("msr daifset, #2" ::: "memory");
    if (observer.interrupts_masked == nullptr) return;
    observer.interrupts_masked(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}
void yield() { asm volatile("yield"); }
void wait_for_interrupt() { asm volatile("dsb sy\n\twfi" ::: "memory"); }

}  // namespace nopscope::hal

using namespace nopscope::hal;

void nopscope_interrupt(IrqFrame* frame) {
    const std::uint32_t acknowledged =
        with_controller([](auto controller) { return controller.acknowledge(); });
    const unsigned interrupt = acknowledged & 0x3ff;
    if (interrupt >= first_special_interrupt) return;  // no longer pending
    const unsigned core = this_core();
    const unsigned below = depths[core].value;
    depths[core].value = below + 1;
    if (below == 0) depths[core].thread_pc = frame->general.elr;
    const ExceptionFrame* const outer = depths[core].frame;
    depths[core].frame = &frame->general;
    if (interrupt == core_call_sgi) {
        serve_core_calls({.core = core, .pc = frame->general.elr, .depth = below});
    } else {
        const Handler handler = interrupt < interrupt_limit ? handlers[interrupt] : nullptr;
        if (handler == nullptr) panic("an interrupt without a handler");
        const bool told = observer.interrupt_begin != nullptr;
        const std::uint64_t begun = told ? observer.interrupt_begin(interrupt) : 0;
        enable_interrupts();
        handler(interrupt);
        disable_interrupts();
        if (told) observer.interrupt_end(begun);
    }
    depths[core].frame = outer;
    depths[core].value = below;
    with_controller([=](auto controller) { controller.finish(acknowledged); });
    // Last: it may return on another core.
    if (below == 0 && after_interrupt != nullptr) after_interrupt();
}
