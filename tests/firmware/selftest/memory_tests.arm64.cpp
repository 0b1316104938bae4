// SPDX-License-Identifier: Apache-2.0
// Memory protection: each kind of page refuses what it must refuse.
#include <cstdlib>

#include "hal/arm64/registers.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"

using namespace nopscope;
using namespace nopscope::selftest;
using hal::ExceptionClass;
using hal::expect_fault;
using hal::Fault;

namespace {

constexpr std::uint32_t ret_instruction = 0xd65f'03c0;
const std::uint32_t constant_word = ret_instruction;
alignas(8) std::uint32_t data_word = ret_instruction;

void load(void* address) { static_cast<void>(*static_cast<volatile std::uint32_t*>(address)); }
void store(void* address) { *static_cast<volatile std::uint32_t*>(address) = ret_instruction; }
void execute(void* address) { reinterpret_cast<void (*)()>(address)(); }

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

bool is(const Fault& fault, ExceptionClass expected) {
    return fault.happened && fault.exception_class() == static_cast<unsigned>(expected);
}
bool is_permission(const Fault& fault) { return (fault.fault_status() & 0x3c) == 0x0c; }

bool refuses_store(void* address) {
    const Fault fault = expect_fault(store, address);
    return is(fault, ExceptionClass::data_abort) && is_permission(fault) &&
           hal::Esr{fault.esr}.is_write() && fault.far == hal::address_of(address);
}
bool refuses_execution(void* address) {
    const Fault fault = expect_fault(execute, address);
    return is(fault, ExceptionClass::instruction_abort) && is_permission(fault) &&
           fault.elr == hal::address_of(address);
}
bool is_unmapped(void* address) {
    const Fault fault = expect_fault(load, address);
    return is_unmapped_data(fault) && fault.far == hal::address_of(address);
}

void* alias(const void* word) { return at(hal::address_of(word) + text_alias_offset); }

}  // namespace

SELFTEST("memory.text_and_rodata_refuse_stores") {
    REQUIRE(refuses_store(at(hal::address_of(selftest_land_nothing))));
    REQUIRE(refuses_store(const_cast<std::uint32_t*>(&constant_word)));
}

SELFTEST("memory.all_but_text_refuses_execution") {
    alignas(8) std::uint32_t stack_word = ret_instruction;
    static auto* const heap_word = static_cast<std::uint32_t*>(std::malloc(sizeof data_word));
    REQUIRE(heap_word != nullptr);
    *heap_word = ret_instruction;
    REQUIRE(refuses_execution(const_cast<std::uint32_t*>(&constant_word)));
    REQUIRE(refuses_execution(&data_word) && refuses_execution(&stack_word));
    REQUIRE(refuses_execution(heap_word) && refuses_execution(alias(selftest_land_nothing)));
}

SELFTEST("memory.only_text_has_an_alias") {
    REQUIRE(is_unmapped(alias(&constant_word)) && is_unmapped(alias(&data_word)));
}

SELFTEST("memory.misaligned_sp_and_pc_fault") {
    const auto sp_fault = expect_fault([](void* sp) { selftest_load_from_sp(hal::address_of(sp)); },
                                       at(hal::address_of(__stack_high) - 1024 + 4));
    const auto pc_fault = expect_fault(execute, at(hal::address_of(selftest_land_c) + 2));
    REQUIRE(is(pc_fault, ExceptionClass::pc_alignment));
    if (!sp_fault.happened) return passed("this machine does not check SP: QEMU's TCG does not");
    REQUIRE(is(sp_fault, ExceptionClass::sp_alignment));
}
