// SPDX-License-Identifier: Apache-2.0
// The layout of what the vectors save, in bytes from the saved SP. vectors.S and C++ share it;
// static_asserts check each offset against its field.
#pragma once

#define FRAME_X(n) (8 * (n))
#define FRAME_SP 248
#define FRAME_ELR 256
#define FRAME_SPSR 264
#define FRAME_ESR 272
#define FRAME_FAR 280
#define FRAME_BYTES 288

// An interrupt's frame adds a frame record {x29, ELR} for backtraces, and the vector registers.
#define FRAME_RECORD 288
#define FRAME_FPSR 304
#define FRAME_Q(n) (320 + 16 * (n))
#define IRQ_FRAME_BYTES 832

// The distance between the emergency stacks (with guard page) of two cores, as a power of two.
// linker/sections.ld has the same number.
#define EMERGENCY_STACK_SHIFT 15
#define EMERGENCY_STACK_CORE_BITS 3

// The bit MPIDR_EL1.MT. Set: the core's number is in Aff1, not in Aff0.
#define MPIDR_MT 24

// EL1h, all interrupts masked.
#define SPSR_EL1H_MASKED 0x3c5

#ifndef __ASSEMBLER__
#include <cstddef>
#include <cstdint>

#include "hal/arm64/page_table.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

inline constexpr std::uint64_t emergency_stack_stride = std::uint64_t{1} << EMERGENCY_STACK_SHIFT;

struct ExceptionFrame {
    std::uint64_t x[31];
    std::uint64_t sp;
    std::uint64_t elr;
    std::uint64_t spsr;
    std::uint64_t esr;  // exceptions only
    std::uint64_t far;  // exceptions only
};
static_assert(offsetof(ExceptionFrame, x) == FRAME_X(0));
static_assert(offsetof(ExceptionFrame, sp) == FRAME_SP);
static_assert(offsetof(ExceptionFrame, elr) == FRAME_ELR);
static_assert(offsetof(ExceptionFrame, spsr) == FRAME_SPSR);
static_assert(offsetof(ExceptionFrame, esr) == FRAME_ESR);
static_assert(offsetof(ExceptionFrame, far) == FRAME_FAR);
static_assert(sizeof(ExceptionFrame) == FRAME_BYTES);

struct FrameRecord {  // AAPCS64, 6.4.6
    std::uint64_t caller_record;
    std::uint64_t return_address;  // maybe signed
};
inline constexpr std::uint64_t record_offset = 0;

struct IrqFrame {
    ExceptionFrame general;
    FrameRecord record;
    std::uint64_t fpsr;
    std::uint64_t fpcr;
    std::uint64_t q[32][2];
};
static_assert(offsetof(IrqFrame, record) == FRAME_RECORD);
static_assert(offsetof(IrqFrame, fpsr) == FRAME_FPSR);
static_assert(offsetof(IrqFrame, q) == FRAME_Q(0));
static_assert(sizeof(IrqFrame) == IRQ_FRAME_BYTES && IRQ_FRAME_BYTES % 16 == 0);

inline InterruptedRegisters registers_of(const ExceptionFrame& frame) {
    return {frame.x, frame.sp, frame.elr};
}
inline Fault fault_of(const ExceptionFrame& frame) {
    return {.happened = true, .esr = frame.esr, .elr = frame.elr, .far = frame.far, .sp = frame.sp};
}
inline std::uint64_t fault_address(const ExceptionFrame& frame) {
    return Esr{frame.esr}.is_abort() ? frame.far : 0;
}
inline void resume_at(ExceptionFrame& frame, std::uint64_t pc, std::uint64_t sp) {
    constexpr std::uint64_t branch_type = 3 << 10;  // SPSR.BTYPE: the place has no landing pad
    constexpr std::uint64_t illegal_state = 1 << 20;
    frame.elr = pc;
    frame.sp = sp;
    frame.spsr &= ~(branch_type | illegal_state);
}
inline bool is_synchronous(unsigned vector) { return vector == 4; }
inline bool is_unanswered_semihosting(const ExceptionFrame& frame) {
    return Esr{frame.esr}.exception_class() == static_cast<unsigned>(ExceptionClass::unknown);
}

}  // namespace nopscope::hal
#endif
