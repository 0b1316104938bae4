// SPDX-License-Identifier: Apache-2.0
// The layout of what the vectors save, in bytes from the saved sp. vectors.S and C++ share it;
// static_asserts check each offset against its field.
#pragma once

#define FRAME_X(n) (8 * (n))
#define FRAME_PC 256
#define FRAME_STATUS 264
#define FRAME_CAUSE 272
#define FRAME_VALUE 280
#define FRAME_BYTES 288

// An interrupt's frame adds the floating-point registers, and at its end a frame record {s0, mepc}
// for backtraces.
#define FRAME_FCSR 288
#define FRAME_F(n) (304 + 8 * (n))
#define FRAME_RECORD 560
#define IRQ_FRAME_BYTES 576

// A hart's block, at the top of its emergency stack: the frame of a fault, and the core's number.
// mscratch has its address, but in the first instructions of a fault.
#define HART_CORE 288
#define HART_BYTES 304

// The distance between the emergency stacks (with guard page) of two cores, as a power of two.
// linker/sections.ld has the same number.
#define EMERGENCY_STACK_SHIFT 15

#ifndef __ASSEMBLER__
#include <cstddef>
#include <cstdint>

#include "hal/hal.hpp"

namespace nopscope::hal {

inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr std::uint64_t emergency_stack_stride = std::uint64_t{1} << EMERGENCY_STACK_SHIFT;

struct ExceptionFrame {
    std::uint64_t x[32];  // x[0] is 0; x[2] is the interrupted sp
    std::uint64_t pc;
    std::uint64_t status;
    std::uint64_t cause;  // exceptions only
    std::uint64_t value;  // exceptions only
};
static_assert(offsetof(ExceptionFrame, x) == FRAME_X(0));
static_assert(offsetof(ExceptionFrame, pc) == FRAME_PC);
static_assert(offsetof(ExceptionFrame, status) == FRAME_STATUS);
static_assert(offsetof(ExceptionFrame, cause) == FRAME_CAUSE);
static_assert(offsetof(ExceptionFrame, value) == FRAME_VALUE);
static_assert(sizeof(ExceptionFrame) == FRAME_BYTES);

// What lies below the address in s0. A leaf function of GCC 12 saves no ra: its caller's s0 is in
// the place of return_address.
struct FrameRecord {
    std::uint64_t caller_record;
    std::uint64_t return_address;
};
inline constexpr std::uint64_t record_offset = std::uint64_t{0} - sizeof(FrameRecord);

struct IrqFrame {
    ExceptionFrame general;
    std::uint64_t fcsr;
    std::uint64_t unused;
    std::uint64_t f[32];
    FrameRecord record;
};
static_assert(offsetof(IrqFrame, fcsr) == FRAME_FCSR);
static_assert(offsetof(IrqFrame, f) == FRAME_F(0));
static_assert(offsetof(IrqFrame, record) == FRAME_RECORD);
static_assert(sizeof(IrqFrame) == IRQ_FRAME_BYTES && IRQ_FRAME_BYTES % 16 == 0);

struct Hart {
    ExceptionFrame frame;
    std::uint64_t core;
    std::uint64_t unused;
};
static_assert(offsetof(Hart, core) == HART_CORE);
static_assert(sizeof(Hart) == HART_BYTES && HART_BYTES % 16 == 0);

inline InterruptedRegisters registers_of(const ExceptionFrame& frame) {
    return {frame.x, frame.x[2], frame.pc};
}
inline Fault fault_of(const ExceptionFrame& frame) {
    return {.happened = true,
            .cause = frame.cause,
            .pc = frame.pc,
            .value = frame.value,
            .sp = frame.x[2]};
}
// Of the alignment, access and page faults of instructions, loads and stores.
inline std::uint64_t fault_address(const ExceptionFrame& frame) {
    constexpr std::uint64_t with_an_address = 0xb0f3;
    return frame.cause < 16 && (with_an_address >> frame.cause & 1) != 0 ? frame.value : 0;
}
inline void resume_at(ExceptionFrame& frame, std::uint64_t pc, std::uint64_t sp) {
    frame.pc = pc;
    frame.x[2] = sp;
}
inline bool is_synchronous(unsigned) { return true; }
inline bool is_unanswered_semihosting(const ExceptionFrame& frame) {
    constexpr std::uint64_t breakpoint = 3;
    return frame.cause == breakpoint;
}

}  // namespace nopscope::hal
#endif
