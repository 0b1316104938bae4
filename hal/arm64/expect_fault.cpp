// SPDX-License-Identifier: Apache-2.0
#include "hal/expect_fault.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

struct alignas(64) Expectation {  // one for each core
    volatile bool expecting;
    std::uint64_t recovery_sp;
    Fault last;
};
Expectation expectations[max_cores];

}  // namespace

Fault expect_fault(void (*function)(void*), void* argument) {
    Expectation& mine = expectations[this_core()];
    mine.expecting = true;
    const bool returned = nopscope_guarded_call(function, argument, &mine.recovery_sp);
    mine.expecting = false;
    Fault fault = mine.last;
    fault.happened = !returned;
    return fault;
}

bool recover_expected_fault(ExceptionFrame& frame) {
    constexpr std::uint64_t branch_type = 3 << 10;  // SPSR.BTYPE: the label has no landing pad
    constexpr std::uint64_t illegal_state = 1 << 20;
    Expectation& mine = expectations[this_core()];
    if (!mine.expecting) return false;
    mine.expecting = false;
    mine.last = {
        .happened = true, .esr = frame.esr, .elr = frame.elr, .far = frame.far, .sp = frame.sp};
    frame.elr = address_of(nopscope_guarded_call_recovery);
    frame.sp = mine.recovery_sp;
    frame.spsr &= ~(branch_type | illegal_state);
    return true;
}

}  // namespace nopscope::hal
