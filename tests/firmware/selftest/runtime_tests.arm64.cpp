// SPDX-License-Identifier: Apache-2.0
// Boot's exception levels.
#include "hal/arm64/boot.hpp"
#include "hal/arm64/registers.hpp"
#include "tests/firmware/selftest/selftest.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

SELFTEST("boot.at_el1") {
    std::uint64_t level;
    asm("mrs %0, CurrentEL" : "=r"(level));
    const auto entered = hal::boot_exception_level();
    REQUIRE(level >> 2 == 1 && (entered == 1 || entered == 2));
    passed(entered == 1 ? "entered at EL1" : "entered at EL2");
}

// HCRX_EL2.TALLINT, which boot clears. Nothing here uses ALLINT, but a firmware's code may.
SELFTEST("boot.el2_does_not_trap_allint") {
    if (hal::field(hal::read_id_aa64pfr1_el1(), 36, 4) == 0) return passed("no FEAT_NMI here");
    asm volatile("msr S3_0_C4_C3_0, xzr");  // ALLINT
}
