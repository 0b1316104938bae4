// SPDX-License-Identifier: Apache-2.0
// Contract: machine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/cores.hpp"
#include "hal/frame.hpp"
#include "hal/riscv64/registers.hpp"
#include "hal/symbols.hpp"
#include "tests/firmware/image.hpp"

#define SELFTEST_BREAKPOINT "ebreak"
#define SELFTEST_LINK "ra"

extern "C" const char nopscope_vectors[];  // hal/riscv64/vectors.S

namespace nopscope::selftest {

inline constexpr unsigned instruction_bytes = 2;
inline constexpr std::uint32_t breakpoint_word = 0x0010'0073;
inline constexpr std::uint32_t returns_2_word = 0x0020'0513;  // LI A0, 2

inline bool has_cycle_counter() { return true; }
inline constexpr bool counts_events = false;

[[gnu::always_inline]] inline bool unknown_registers_are_zero() {
    std::uint64_t tp, fcsr;
    asm volatile("mv %0, tp" : "=r"(tp));
    asm volatile("frcsr %0" : "=r"(fcsr));
    return tp == 0 && fcsr == 0;
}
[[gnu::always_inline]] inline void set_second_argument(std::uint64_t value) {
    asm volatile("mv a1, %0" ::"r"(value) : "a1");
}
[[gnu::always_inline]] inline void lose_current_core() {
    asm volatile("mv tp, %0" ::"r"(std::uint64_t{1} << 47));
}

struct MachineState {
    std::uint64_t mtvec, mstatus, mcountinhibit, pmpcfg0;
    bool operator==(const MachineState&) const = default;
};
inline MachineState read_machine_state() {
    constexpr std::uint64_t float_and_modes = 0x1'e000;  // FS and XS
    MachineState state;
    asm volatile("csrr %0, mtvec" : "=r"(state.mtvec));
    asm volatile("csrr %0, mcountinhibit" : "=r"(state.mcountinhibit));
    asm volatile("csrr %0, pmpcfg0" : "=r"(state.pmpcfg0));
    state.mstatus = hal::read_mstatus() & float_and_modes;
    return state;
}
// The vectors by cause, floating-point registers on, all counters running, and two locked pages.
inline bool is_set_up(const MachineState& state) {
    return state.mtvec == hal::address_of(nopscope_vectors) + 1 && state.mstatus != 0 &&
           state.mcountinhibit == 0 && state.pmpcfg0 == 0x9898;
}

// Privileged Architecture, "Machine Cause Register". An access fault: of a locked page, too.
inline bool is_unmapped_data(const hal::Fault& fault) {
    constexpr std::uint64_t load = 5, store = 7;
    return fault.happened && (fault.cause == load || fault.cause == store);
}
inline bool is_unmapped_fetch(const hal::Fault& fault) {
    constexpr std::uint64_t instruction = 1;
    return fault.happened && fault.cause == instruction;
}
inline std::uint64_t fault_address(const hal::Fault& fault) { return fault.value; }
inline const hal::ExceptionFrame& fault_frame(unsigned core) {
    return reinterpret_cast<const hal::Hart*>(hal::emergency_stack_bounds(core).high)[-1].frame;
}
// Each core locks the page below its own stack.
inline unsigned guarded_stacks() { return hal::core_count(); }

struct HeldRegisters {  // layout: HOLD_* in targets.riscv64.S
    std::uint64_t x[32];
    std::uint64_t f[32];
    std::uint64_t fcsr, unused;
};
static_assert(offsetof(HeldRegisters, f) == 256 && offsetof(HeldRegisters, fcsr) == 512 &&
              sizeof(HeldRegisters) == 528);
inline void fill(HeldRegisters& registers, image::Random& random, std::uint64_t loops) {
    constexpr std::uint64_t rounding_modes = 5;
    for (auto& x : registers.x) x = random.next();
    for (auto& f : registers.f) f = random.next();
    registers.fcsr = random.below(rounding_modes) << 5 | (random.next() & 0x1f);
    registers.x[31] = loops;
}
inline void forget_unheld(HeldRegisters& in, const HeldRegisters& out) {
    in.x[31] = 0;
    in.x[0] = out.x[0];
    in.x[2] = out.x[2];  // SP is not stored
    in.unused = out.unused;
}

struct SampledRegisters {
    std::uint64_t x[32] = {};
    void set_frame(std::uint64_t record) { x[8] = record - hal::record_offset; }
    std::uint64_t frame() const { return x[8]; }
};

}  // namespace nopscope::selftest
