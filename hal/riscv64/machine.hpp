// SPDX-License-Identifier: Apache-2.0
// Machine of our own boards (contract: tracer/arch/machine.hpp): an empty struct of inline code.
// There is no MMU: text is written at its own address.
#pragma once

#include "hal/riscv64/registers.hpp"
#include "tracer/arch/riscv64/cpu.hpp"

namespace nopscope {

namespace hal {
bool run_on_other_cores(CoreCall call, void* argument);  // hal/core_calls.cpp
std::uint32_t online_cores();                            // hal/cores.cpp
}  // namespace hal

struct Machine : Cpu {
    NOPSCOPE_INLINE Address writable(Address address) { return address; }
    NOPSCOPE_INLINE void write_word(Address address, std::uint32_t word) {
        *reinterpret_cast<volatile std::uint32_t*>(address) = word;
    }
    NOPSCOPE_INLINE void write_slot(Address address, std::uint64_t slot) {
        *reinterpret_cast<volatile std::uint64_t*>(address) = slot;
    }
    NOPSCOPE_INLINE bool run_on_other_cores(CoreCall call, void* argument) {
        return hal::run_on_other_cores(call, argument);
    }
    // The called core executes FENCE.I: its trap alone would not synchronise.
    NOPSCOPE_INLINE bool synchronize_other_cores() {
        return hal::run_on_other_cores(nullptr, nullptr);
    }
    NOPSCOPE_INLINE std::uint32_t online_cores() { return hal::online_cores(); }
    NOPSCOPE_INLINE unsigned core() { return static_cast<unsigned>(hal::this_hart().core); }
};

static_assert(MachineConcept<Machine>);

}  // namespace nopscope
