// SPDX-License-Identifier: Apache-2.0
// The parts of RV64GC instructions that a reader of images must know (RISC-V ISA manual, volume I).
#pragma once

#include <cstdint>

namespace nopscope::host::rv64 {

inline constexpr std::uint32_t nop = 0x00000013;  // addi x0, x0, 0
inline constexpr std::uint16_t short_nop = 0x0001;
inline constexpr std::uint32_t mret = 0x30200073;
inline constexpr std::uint32_t sret = 0x10200073;
inline constexpr std::uint32_t ebreak = 0x00100073;
inline constexpr std::uint16_t short_ebreak = 0x9002;

inline constexpr unsigned ra = 1, sp = 2, gp = 3, t0 = 5;

// auipc t0, hi; jalr t0, lo(t0)
constexpr bool is_auipc_t0(std::uint32_t word) { return (word & 0xfff) == 0x297; }
constexpr bool is_jalr_t0(std::uint32_t word) { return (word & 0xfffff) == 0x282e7; }

// The kinds that a reader tells from one another.
enum class Kind : std::uint8_t { other, jal, jalr, branch, auipc, lui, addi, ld, store };

// A compressed instruction has the fields of the one that it stands for.
struct Decoded {
    unsigned bytes = 4;
    Kind kind = Kind::other;
    // General registers: that it writes, and those that it reads; 0: none.
    unsigned rd = 0, rs1 = 0, rs2 = 0;
    std::int64_t immediate = 0;  // of all kinds but `other`; of a compressed ld or store 0
};
Decoded decode(std::uint32_t word);

}  // namespace nopscope::host::rv64
