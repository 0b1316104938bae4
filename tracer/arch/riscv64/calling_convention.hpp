// SPDX-License-Identifier: Apache-2.0
// The RISC-V calling convention (contract: tracer/arch/calling_convention.hpp; riscv-elf-psabi).
#pragma once

#include "nopscope/ops.hpp"
#include "nopscope/return_ops.hpp"
#include "nopscope/samples.hpp"

#include <cstdint>

namespace nopscope::arch {

inline constexpr unsigned argument_registers = 8;
inline std::uint64_t argument(const Regs& regs, unsigned n) { return regs.x[n]; }
inline std::uint64_t result(const ReturnRegs& regs) { return regs.x[0]; }
inline std::uint64_t& return_address(Regs& regs) { return regs.lr; }

inline std::uint64_t frame_pointer(const Interruption& at) { return at.x[8]; }  // s0
inline std::uint64_t link(const Interruption& at) { return at.x[1]; }
inline std::uint64_t site_body(const Interruption& at) { return at.x[5]; }  // t0
inline std::uint64_t site_link(const Interruption& at) { return at.x[1]; }

// It ends where the frame pointer points to.
struct FrameRecord {
    std::uint64_t caller;
    std::uint64_t return_address;
};
constexpr std::uint64_t frame_record(std::uint64_t pointer) {
    return pointer - sizeof(FrameRecord);
}

// It stores its caller's frame pointer where others store their return address, which is no address
// of the stack.
constexpr bool is_of_leaf(const FrameRecord& record, std::uint64_t address,
                          std::uint64_t stack_end) {
    return record.return_address > address && record.return_address <= stack_end;
}
constexpr std::uint64_t leaf_caller(const FrameRecord& record) { return record.return_address; }

template <typename M>
std::uint64_t without_signature(M&, std::uint64_t saved) {
    return saved;
}

}  // namespace nopscope::arch
