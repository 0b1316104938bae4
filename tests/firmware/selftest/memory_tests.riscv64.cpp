// SPDX-License-Identifier: Apache-2.0
// Misaligned accesses.
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "tests/firmware/selftest/selftest.hpp"

using namespace nopscope;
using namespace nopscope::selftest;
using hal::expect_fault;

// A plain access may fault or not. Atomic ones must, with the address: a CPU with Zama16b (QEMU's
// `max`) is none of our machines.
SELFTEST("memory.misaligned_atomics_fault") {
    alignas(16) static std::uint64_t words[4];
    void* const at = reinterpret_cast<char*>(words) + 12;
    // Load or store, misaligned or refused: with one core QEMU makes an AMO of a load and a store.
    const auto is = [at](const hal::Fault& fault) {
        return fault.happened && fault.value == hal::address_of(at) && fault.cause >= 4 &&
               fault.cause <= 7;
    };
    const auto add = [](void* to) {
        asm volatile("amoadd.d zero, zero, (%0)" ::"r"(to) : "memory");
    };
    const auto reserve = [](void* from) {
        asm volatile("lr.d t0, (%0)" ::"r"(from) : "t0", "memory");
    };
    REQUIRE(is(expect_fault(add, at)) && is(expect_fault(reserve, at)));
    REQUIRE(!expect_fault(add, words).happened && !expect_fault(reserve, words).happened);
}
