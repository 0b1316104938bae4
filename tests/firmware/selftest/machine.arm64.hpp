// SPDX-License-Identifier: Apache-2.0
// Contract: machine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/arm64/registers.hpp"
#include "hal/cores.hpp"
#include "hal/frame.hpp"
#include "tests/firmware/image.hpp"

#define SELFTEST_BREAKPOINT "brk #42"
#define SELFTEST_LINK "x30"

namespace nopscope::selftest {

inline constexpr unsigned instruction_bytes = 4;
inline constexpr std::uint32_t breakpoint_word = 0xd420'0000;
inline constexpr std::uint32_t returns_2_word = 0x5280'0040;  // MOV W0, #2

inline bool has_cycle_counter() { return hal::CpuFeatures::read().pmu; }
inline constexpr bool counts_events = true;

[[gnu::always_inline]] inline bool unknown_registers_are_zero() {
    std::uint64_t tpidr, fpcr;
    asm volatile("mrs %0, tpidr_el1" : "=r"(tpidr));
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return tpidr == 0 && fpcr == 0;
}
[[gnu::always_inline]] inline void set_second_argument(std::uint64_t value) {
    asm volatile("mov x1, %0" ::"r"(value) : "x1");
}
[[gnu::always_inline]] inline void lose_current_core() {
    asm volatile("msr tpidr_el1, %0" ::"r"(std::uint64_t{1} << 47));
}

struct MachineState {
    // SCTLR, MAIR, TCR, TTBR0, VBAR, CPACR, CurrentEL, and the low half of key A.
    std::uint64_t registers[8];
    bool operator==(const MachineState&) const = default;
};
inline MachineState read_machine_state() {
    std::uint64_t vbar, cpacr, level;
    asm volatile("mrs %0, vbar_el1" : "=r"(vbar));
    asm volatile("mrs %0, cpacr_el1" : "=r"(cpacr));
    asm volatile("mrs %0, CurrentEL" : "=r"(level));
    return {{hal::read_sctlr_el1(), hal::read_mair_el1(), hal::read_tcr_el1(),
             hal::read_ttbr0_el1(), vbar, cpacr, level,
             hal::CpuFeatures::read().pac ? hal::read_apia_key_lo_el1() : 0}};
}
inline bool is_set_up(const MachineState& state) {
    constexpr std::uint64_t el1 = 1 << 2;
    return state.registers[6] == el1 && (state.registers[0] & 1) == 1;
}

inline bool is_unmapped(const hal::Fault& fault, hal::ExceptionClass what) {
    constexpr unsigned translation = 0x04, but_level = 0x3c;
    return fault.happened && fault.exception_class() == static_cast<unsigned>(what) &&
           (fault.fault_status() & but_level) == translation;
}
inline bool is_unmapped_data(const hal::Fault& fault) {
    return is_unmapped(fault, hal::ExceptionClass::data_abort);
}
inline bool is_unmapped_fetch(const hal::Fault& fault) {
    return is_unmapped(fault, hal::ExceptionClass::instruction_abort);
}
inline std::uint64_t fault_address(const hal::Fault& fault) { return fault.far; }
inline const hal::ExceptionFrame& fault_frame(unsigned core) {
    return reinterpret_cast<const hal::ExceptionFrame*>(hal::emergency_stack_bounds(core).high)[-1];
}
inline unsigned guarded_stacks() { return hal::max_cores; }

struct HeldRegisters {  // layout: HOLD_* in targets.arm64.S
    std::uint64_t x[32];
    std::uint64_t q[32][2];
    std::uint64_t nzcv, fpsr, fpcr, unused;
};
static_assert(offsetof(HeldRegisters, q) == 256 && offsetof(HeldRegisters, nzcv) == 768 &&
              sizeof(HeldRegisters) == 800);
inline void fill(HeldRegisters& registers, image::Random& random, std::uint64_t loops) {
    for (auto& x : registers.x) x = random.next();
    for (auto& q : registers.q) q[0] = random.next(), q[1] = random.next();
    registers.nzcv = random.next() & 0xf000'0000;
    registers.fpsr = random.next() & 0x0800'009f;  // QC and the cumulative exceptions
    registers.fpcr = random.next() & 0x07c0'0000;  // AHP, DN, FZ, RMode: none causes traps
    registers.x[28] = loops;
}
inline void forget_unheld(HeldRegisters& in, const HeldRegisters& out) {
    in.x[28] = 0;
    in.x[31] = out.x[31];  // SP is not stored
    in.unused = out.unused;
}

struct SampledRegisters {
    std::uint64_t x[31] = {};
    void set_frame(std::uint64_t record) { x[29] = record; }
    std::uint64_t frame() const { return x[29]; }
};

}  // namespace nopscope::selftest
