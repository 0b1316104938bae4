// SPDX-License-Identifier: Apache-2.0
#include "hal/expect_fault.hpp"

#include "hal/hal.hpp"
#include "hal/parts.hpp"
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
    Expectation& mine = expectations[this_core()];
    if (!mine.expecting) return false;
    mine.expecting = false;
    mine.last = fault_of(frame);
    resume_at(frame, address_of(nopscope_guarded_call_recovery), mine.recovery_sp);
    return true;
}

}  // namespace nopscope::hal
