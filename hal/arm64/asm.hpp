// SPDX-License-Identifier: Apache-2.0
// What assembly and C++ call of each other.
#pragma once

#include <cstdint>

#include "hal/arm64/frame.h"

extern "C" {

// From boot.S, MMU and caches off: returns what to write to SCTLR_EL1. `device_tree`: x0 at entry, which the Linux boot
// protocol makes the device tree's address.
std::uint64_t nopscope_boot_early(unsigned exception_level, std::uint64_t device_tree);
// From boot.S, MMU and caches on.
[[noreturn]] void nopscope_boot_late();
// Where another core starts: boot.S, MMU off.
extern const char nopscope_secondary_start[];
// From boot.S on such a core, MMU and caches on.
[[noreturn]] void nopscope_secondary_main(unsigned core);

// From vectors.S, interrupts masked, emergency stack. Returns when `frame` is to be resumed.
void nopscope_exception(nopscope::hal::ExceptionFrame* frame, unsigned vector);
// From vectors.S, interrupts masked, interrupted stack.
void nopscope_interrupt(nopscope::hal::IrqFrame* frame);

// calls.S. HLT #0xF000 with w0 = operation, x1 = its argument.
std::uint64_t nopscope_semihosting(std::uint32_t operation, const volatile void* argument);
extern const char nopscope_semihosting_hlt[];  // that instruction
std::uint64_t nopscope_psci_hvc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
std::uint64_t nopscope_psci_smc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
// Calls function(argument), the callee-saved registers kept at *saved_sp. Returns false when
// nopscope_guarded_call_recovery was resumed with SP = *saved_sp.
bool nopscope_guarded_call(void (*function)(void*), void* argument, std::uint64_t* saved_sp);
extern const char nopscope_guarded_call_recovery[];

// newlib/run_main.cpp: static constructors, main, newlib's exit().
[[noreturn]] void nopscope_run_main();
}
