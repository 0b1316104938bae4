// SPDX-License-Identifier: Apache-2.0
// Machine of our own boards (contract: tracer/arch/machine.hpp): an empty struct of inline code.
//
// Text is mapped twice (hal/arm64/mmu.cpp): executable and read-only at its own address, and
// writable but not executable `text_alias_offset` above. Stores use the alias. Both mappings are
// Normal write-back inner shareable, so loads through either see a store at once. Only instruction
// fetch needs cache maintenance.
#pragma once

#include "tracer/arch/arm64/cpu.hpp"

namespace nopscope {

inline constexpr std::uint64_t text_alias_offset = 0x40'0000'0000;

namespace hal {
bool run_on_other_cores(CoreCall call, void* argument);  // hal/core_calls.cpp
std::uint32_t online_cores();                            // hal/cores.cpp
}  // namespace hal

struct Machine : Cpu {
    NOPSCOPE_INLINE Address writable(Address address) { return address + text_alias_offset; }
    NOPSCOPE_INLINE void write_word(Address address, std::uint32_t word) {
        *reinterpret_cast<volatile std::uint32_t*>(writable(address)) = word;
    }
    NOPSCOPE_INLINE void write_slot(Address address, std::uint64_t slot) {
        *reinterpret_cast<volatile std::uint64_t*>(writable(address)) = slot;
    }
    NOPSCOPE_INLINE bool run_on_other_cores(CoreCall call, void* argument) {
        return hal::run_on_other_cores(call, argument);
    }
    // An interrupt's entry and return are context synchronisation events.
    NOPSCOPE_INLINE bool synchronize_other_cores() {
        return hal::run_on_other_cores(nullptr, nullptr);
    }
    NOPSCOPE_INLINE std::uint32_t online_cores() { return hal::online_cores(); }
};

static_assert(MachineConcept<Machine>);

}  // namespace nopscope
