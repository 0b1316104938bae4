// SPDX-License-Identifier: Apache-2.0
#include "hal/expect_fault.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/arm64/symbols.hpp"

namespace nopscope::hal {

namespace {

volatile bool expecting;
std::uint64_t recovery_sp;
Fault last;

}  // namespace

Fault expect_fault(void (*function)(void*), void* argument) {
    last.happened = false;
    expecting = true;
    const bool returned = nopscope_guarded_call(function, argument, &recovery_sp);
    expecting = false;
    Fault fault = last;
    fault.happened = !returned;
    return fault;
}

bool recover_expected_fault(ExceptionFrame& frame) {
    constexpr std::uint64_t branch_type = 3 << 10;  // SPSR.BTYPE: the label is no landing pad
    constexpr std::uint64_t illegal_state = 1 << 20;
    if (!expecting) return false;
    expecting = false;
    last.esr = frame.esr;
    last.elr = frame.elr;
    last.far = frame.far;
    last.sp = frame.sp;
    frame.elr = address_of(nopscope_guarded_call_recovery);
    frame.sp = recovery_sp;
    frame.spsr &= ~(branch_type | illegal_state);
    return true;
}

}  // namespace nopscope::hal
