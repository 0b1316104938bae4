// SPDX-License-Identifier: Apache-2.0
// Functions and labels that assembly and C++ share.
#pragma once

#include <cstdint>

#include "hal/arm64/frame.h"

extern "C" {

// boot.S calls it with MMU and caches off. Returns the value for SCTLR_EL1. `device_tree`: x0 at
// entry; by the Linux boot protocol the device tree's address.
std::uint64_t nopscope_boot_early(unsigned exception_level, std::uint64_t device_tree);
// boot.S calls it with MMU and caches on.
[[noreturn]] void nopscope_boot_late();
// Where the other cores start: boot.S, MMU off.
extern const char nopscope_secondary_start[];
// boot.S calls it on such a core, with MMU and caches on.
[[noreturn]] void nopscope_secondary_main(unsigned core);

// vectors.S calls it, interrupts masked, emergency stack. When it returns, `frame` is resumed.
void nopscope_exception(nopscope::hal::ExceptionFrame* frame, unsigned vector);
// vectors.S calls it, interrupts masked, on the interrupted stack.
void nopscope_interrupt(nopscope::hal::IrqFrame* frame);

// calls.S: HLT #0xF000 with w0 = operation, x1 = argument.
std::uint64_t nopscope_semihosting(std::uint32_t operation, const volatile void* argument);
extern const char nopscope_semihosting_hlt[];  // the HLT instruction
std::uint64_t nopscope_psci_hvc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
std::uint64_t nopscope_psci_smc(std::uint64_t function, std::uint64_t, std::uint64_t,
                                std::uint64_t);
// Calls function(argument) and saves the callee-saved registers at *saved_sp. False: an exception
// resumed at nopscope_guarded_call_recovery with SP = *saved_sp.
bool nopscope_guarded_call(void (*function)(void*), void* argument, std::uint64_t* saved_sp);
extern const char nopscope_guarded_call_recovery[];
}
