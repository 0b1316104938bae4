// SPDX-License-Identifier: Apache-2.0
// For tests: run something that should fault, and learn how it did.
//
//     const Fault fault = expect_fault([](void* p) { *static_cast<int*>(p) = 1; }, &text);
//     check(fault.happened && fault.exception_class() == 0x25);
#pragma once

#include <cstdint>

#include "hal/arm64/frame.h"

namespace nopscope::hal {

struct Fault {
    bool happened;
    std::uint64_t esr;
    std::uint64_t elr;
    std::uint64_t far;
    std::uint64_t sp;  // at the fault
    constexpr unsigned exception_class() const { return static_cast<unsigned>(esr >> 26 & 63); }
    constexpr unsigned fault_status() const { return static_cast<unsigned>(esr & 63); }
};

// Calls function(argument) and returns when it does, or at its first synchronous exception.
// Thread context of any core; does not nest; destructors of what the fault cut off do not run.
Fault expect_fault(void (*function)(void*), void* argument);

// The vector's side: false when nobody expects this.
bool recover_expected_fault(ExceptionFrame& frame);

}  // namespace nopscope::hal
