// SPDX-License-Identifier: Apache-2.0
// What the oracle knows of the instructions of its target, which is QEMU's.
#pragma once

#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/rv64.hpp"

#include <string_view>

// `word`: an instruction; one of 2 bytes has zeros above.
struct Isa {
    Branch (*branch_of)(std::uint32_t word);
    bool (*is_site_call)(std::uint32_t word);  // of a word that toggles
    bool (*reads_clock)(std::uint32_t word);
    bool (*waits)(std::uint32_t word);  // for an interrupt
    bool (*ends_interrupt)(std::uint32_t word);
    bool (*is_move_to_sp)(std::uint32_t word);
    std::uint64_t vector_bytes, vector_table_bytes;
};

inline constexpr Isa isa_of_arm64{
    .branch_of = a64::branch_of,
    .is_site_call = a64::is_bl,
    .reads_clock = a64::reads_clock,
    .waits = [](std::uint32_t word) { return word == a64::wfi; },
    .ends_interrupt = [](std::uint32_t word) { return a64::op_of(word) == a64::Op::eret; },
    .is_move_to_sp = a64::is_mov_to_sp,
    .vector_bytes = 0x80,
    .vector_table_bytes = 0x800};
inline constexpr Isa isa_of_riscv{
    .branch_of = rv64::branch_of,
    .is_site_call = rv64::is_jalr_by_t0,
    .reads_clock = rv64::reads_clock,
    .waits = [](std::uint32_t word) { return word == rv64::wfi; },
    .ends_interrupt = [](std::uint32_t word) { return word == rv64::mret; },
    .is_move_to_sp = rv64::is_move_to_sp,
    .vector_bytes = 4,
    .vector_table_bytes = 64};

// `target`: as QEMU names it.
inline const Isa& isa_of(std::string_view target) {
    return target.starts_with("riscv") ? isa_of_riscv : isa_of_arm64;
}
