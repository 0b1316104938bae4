// SPDX-License-Identifier: Apache-2.0
// The mode after boot.
#include "hal/expect_fault.hpp"
#include "tests/firmware/selftest/selftest.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

// No register tells the mode, but an ECALL's cause does.
SELFTEST("boot.in_machine_mode") {
    constexpr std::uint64_t from_machine_mode = 11;
    const auto fault = hal::expect_fault([](void*) { asm volatile("ecall"); }, nullptr);
    REQUIRE(fault.happened && fault.cause == from_machine_mode);
}
