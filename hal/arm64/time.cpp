// SPDX-License-Identifier: Apache-2.0
// The generic timer's virtual half (Arm ARM DDI 0487, D11) and the cycle counter (D13).
#include "hal/arm64/registers.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

std::uint64_t clock() {
    isb();
    return read_cntvct_el0();
}
std::uint64_t clock_hz() { return read_cntfrq_el0(); }

std::uint64_t cycles() {
    isb();
    return read_pmccntr_el0();
}

void timer_arm(std::uint64_t at) {
    constexpr std::uint64_t enabled_and_unmasked = 1;
    write_cntv_cval_el0(at);
    write_cntv_ctl_el0(enabled_and_unmasked);
    isb();
}

void timer_disarm() {
    write_cntv_ctl_el0(0);
    isb();
}

}  // namespace nopscope::hal
