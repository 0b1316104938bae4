// SPDX-License-Identifier: Apache-2.0
// For tests: calls a function that should fault, and returns what the fault was.
//
//     const Fault fault = expect_fault([](void* p) { *static_cast<int*>(p) = 1; }, &text);
//     check(fault.happened && fault.exception_class() == 0x25);
#pragma once

#include "hal/arch.hpp"

namespace nopscope::hal {

struct ExceptionFrame;

// Calls function(argument). Returns when it returns, or at its first synchronous exception. Thread
// context of any core. Does not nest. Destructors of the frames that a fault cuts off do not run.
Fault expect_fault(void (*function)(void*), void* argument);

// For the exception vector. False: this core expects no fault.
bool recover_expected_fault(ExceptionFrame& frame);

}  // namespace nopscope::hal
