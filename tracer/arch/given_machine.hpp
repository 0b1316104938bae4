// SPDX-License-Identifier: Apache-2.0
// The Machine of firmware without our hal (contract: tracer/arch/machine.hpp). Cpu is the CPU's
// part. The firmware gives the rest to init() (tracer/include/nopscope/machine.h).
#pragma once

#include "nopscope/machine.h"
#include "tracer/arch/cpu.hpp"

namespace nopscope {

extern nopscope_machine given_machine;  // tracer.cpp

struct Machine : Cpu {
    NOPSCOPE_INLINE void open(const nopscope_machine* given) {
        if (given != nullptr) given_machine = *given;
    }
    NOPSCOPE_INLINE Address writable(Address address) {
        return address + static_cast<Address>(given_machine.text_alias);
    }
    NOPSCOPE_INLINE void write_word(Address address, std::uint32_t word) {
        *reinterpret_cast<volatile std::uint32_t*>(writable(address)) = word;
    }
    NOPSCOPE_INLINE void write_slot(Address address, std::uint64_t slot) {
        *reinterpret_cast<volatile std::uint64_t*>(writable(address)) = slot;
    }
    NOPSCOPE_INLINE bool run_on_other_cores(CoreCall call, void* argument) {
        if (is_alone()) return true;
        // A reference is passed as a pointer. c_api.cpp asserts that the structs are alike.
        return given_machine.run_on_other_cores(reinterpret_cast<nopscope_core_call>(call),
                                                argument);
    }
    NOPSCOPE_INLINE bool synchronize_other_cores() {
        return run_on_other_cores(
            [](void*, const Interrupted&) { Machine().instruction_barrier(); }, nullptr);
    }
    NOPSCOPE_INLINE std::uint32_t online_cores() {
        return is_alone() ? 1 : given_machine.online_cores();
    }
    NOPSCOPE_INLINE unsigned core() {
        if (given_machine.core != nullptr) return given_machine.core();
        return is_alone() ? 0 : Cpu::core();
    }

private:
    NOPSCOPE_INLINE bool is_alone() { return given_machine.online_cores == nullptr; }
};

static_assert(MachineConcept<Machine>);

}  // namespace nopscope
