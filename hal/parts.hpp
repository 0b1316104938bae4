// SPDX-License-Identifier: Apache-2.0
// What the HAL asks of an architecture's sources. A firmware uses hal.hpp.
#pragma once

#include <cstdint>

#include "hal/backtrace.hpp"
#include "hal/frame.hpp"

namespace nopscope::hal {

// ---- start ----

// How many cores there are that power_on() can start, with this one. Boot core.
unsigned count_cores();
// Starts a core at nopscope_secondary_main. False: it cannot.
bool power_on(unsigned core);
[[noreturn]] void power_off_this_core();
// The rest of each core's set-up, after its interrupt controller's: cycle counter, late faults.
void finish_core_setup();

// ---- the end ----

// Does nothing where there is no boot firmware, or the firmware refuses.
void firmware_power_off();
void firmware_reset();

// ---- reports ----

// The boot report's words about this core and its interrupt controller: whole lines.
void print_this_core();
void print_interrupt_controller();

// What happened, without a newline: "synchronous: data abort, ... at 0x...".
void print_cause(const ExceptionFrame& frame, unsigned vector);
void print_registers(const ExceptionFrame& frame);
// A fault in one line, by code that hardly can fault itself.
void print_fault(const Fault& fault);
BacktraceStart backtrace_start(const ExceptionFrame& frame);
// An address without what the architecture adds to it on a stack.
std::uint64_t plain_address(std::uint64_t address);
// The frame record there, or the next one that has a return address, which is then plain. `record`
// becomes where that is. In: is_on_a_stack(record).
FrameRecord record_at(std::uint64_t& record);

}  // namespace nopscope::hal

extern "C" {
// Boot core, at the end of the architecture's boot.
[[noreturn]] void nopscope_boot_late();
// Another core, after the same set-up.
[[noreturn]] void nopscope_secondary_main(unsigned core);
// The vectors call it, interrupts masked, emergency stack. When it returns, `frame` is resumed.
void nopscope_exception(nopscope::hal::ExceptionFrame* frame, unsigned vector);
// The vectors call it, interrupts masked, on the interrupted stack.
void nopscope_interrupt(nopscope::hal::IrqFrame* frame);

// Semihosting's instruction, at the label, with this operation and argument.
std::uint64_t nopscope_semihosting(std::uint32_t operation, const volatile void* argument);
extern const char nopscope_semihosting_instruction[];
// Calls function(argument) and saves the callee-saved registers at *saved_sp. False: an exception
// resumed at nopscope_guarded_call_recovery with SP = *saved_sp.
bool nopscope_guarded_call(void (*function)(void*), void* argument, std::uint64_t* saved_sp);
extern const char nopscope_guarded_call_recovery[];
}
