// SPDX-License-Identifier: Apache-2.0
// From the interrupt vector to a handler. While a handler runs, interrupts are unmasked. The
// controller's running priority is the handler's, so only more urgent interrupts get through. They
// nest as deep as priorities and stack allow.
#include "hal/interrupts.hpp"

#include "hal/cores.hpp"
#include "hal/drivers.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"

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

}  // namespace

void interrupts_start() {
    with_controller([](auto controller) { controller.start(); });
    interrupts_start_core();
}

void interrupts_start_core() {
    timer_disarm();
    with_controller([](auto controller) {
        controller.start_core();
        if (!controller.enable(core_call, most_urgent)) panic(core_call_refused);
    });
}

void interrupts_stop_core() {
    with_controller([](auto controller) { controller.stop_core(); });
}

unsigned interrupt_depth() { return depths[this_core()].value; }
const volatile std::uint32_t* interrupt_depth_of(unsigned core) { return &depths[core].value; }

std::uint64_t interrupted_pc() { return depths[this_core()].thread_pc; }
InterruptedRegisters interrupted_registers() { return registers_of(*depths[this_core()].frame); }

void set_handler(unsigned interrupt, unsigned priority, Handler handler) {
    if (interrupt >= interrupt_limit) panic("set_handler: no such interrupt");
    if (interrupt == core_call) panic("set_handler: interrupt 7 is the HAL's");
    if (priority >= priorities) panic("set_handler: priorities are 0..14");
    const InterruptsMasked masked;
    handlers[interrupt] = handler;
    const std::uint8_t value = priority_value(priority);
    if (!with_controller([=](auto controller) { return controller.enable(interrupt, value); })) {
        panic(
            "set_handler: the interrupt cannot be enabled: the boot firmware keeps it for itself, "
            "or it is not there");
    }
}

void disable_interrupt(unsigned interrupt) {
    if (interrupt >= interrupt_limit) panic("disable_interrupt: no such interrupt");
    if (interrupt == core_call) panic("disable_interrupt: interrupt 7 is the HAL's");
    with_controller([=](auto controller) { controller.disable(interrupt); });
}

void raise_interrupt(unsigned number) { raise_interrupt_on(this_core(), number); }

void raise_interrupt_on(unsigned core, unsigned number) {
    if (number >= core_call) panic("raise_interrupt: software interrupts are 0..6");
    if (core >= max_cores) panic("raise_interrupt_on: no such core");
    with_controller([=](auto controller) { controller.raise_interrupt(core, number); });
}

void raise_core_call(unsigned core) {
    with_controller([=](auto controller) { controller.raise_interrupt(core, core_call); });
}

void set_after_interrupt(void (*to)()) { after_interrupt = to; }
void set_interrupt_observer(const InterruptObserver& to) { observer = to; }
void enable_interrupts() {
    if (observer.interrupts_unmasked != nullptr) observer.interrupts_unmasked();
    unmask_interrupts();
}
void disable_interrupts() {
    mask_interrupts();
    if (observer.interrupts_masked == nullptr) return;
    observer.interrupts_masked(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}
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
    if (below == 0) depths[core].thread_pc = registers_of(frame->general).pc;
    const ExceptionFrame* const outer = depths[core].frame;
    depths[core].frame = &frame->general;
    if (interrupt == core_call) {
        serve_core_calls({.core = core, .pc = registers_of(frame->general).pc, .depth = below});
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
