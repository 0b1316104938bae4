// SPDX-License-Identifier: Apache-2.0
// Memory: text can be changed, and what is not mapped faults.
#include <cstdio>

#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include NOPSCOPE_HAL_FILE(machine.hpp)
#include "tests/firmware/selftest/core_tests.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"

using namespace nopscope;
using namespace nopscope::selftest;
using hal::expect_fault;

namespace {

void load(void* address) { static_cast<void>(*static_cast<volatile std::uint32_t*>(address)); }
void execute(void* address) { reinterpret_cast<void (*)()>(address)(); }

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

bool is_unmapped(void* address) {
    const hal::Fault fault = expect_fault(load, address);
    return is_unmapped_data(fault) && fault_address(fault) == hal::address_of(address);
}

}  // namespace

SELFTEST("memory.patched_text_runs") {
    const std::uint64_t word = hal::address_of(reinterpret_cast<void*>(selftest_patchable));
    const std::uint32_t original = Machine{}.read_word(word);
    REQUIRE(selftest_patchable() == 1);
    patch_once(word, returns_2_word);
    const int patched_result = selftest_patchable();
    patch_once(word, original);
    REQUIRE(patched_result == 2 && selftest_patchable() == 1);
}

SELFTEST("memory.null_is_not_mapped") {
    REQUIRE(is_unmapped(nullptr));
    REQUIRE(is_unmapped_fetch(expect_fault(execute, nullptr)));
}

SELFTEST("memory.heap_is_mapped_to_its_end_and_no_further") {
    static char note[32];
    const hal::HeapBounds heap = hal::heap_bounds();
    std::snprintf(note, sizeof note, "up to %#llx", static_cast<unsigned long long>(heap.high));
    REQUIRE(heap.low < heap.high && heap.high <= hal::address_of(__heap_end));
    REQUIRE(!expect_fault(load, at(heap.high - sizeof(std::uint32_t))).happened);
    REQUIRE(is_unmapped(at(heap.high)));
    passed(note);
}

SELFTEST("memory.wild_sp_is_survived") {
    const auto fault = expect_fault([](void*) { selftest_load_from_sp(0x10); }, nullptr);
    REQUIRE(is_unmapped_data(fault) && fault.sp == 0x10);
}
