// SPDX-License-Identifier: Apache-2.0
// The RV64GC instructions that the oracle knows. Encodings: RISC-V ISA Manual, volume I, "RV32/64G
// Instruction Set Listings" and "RVC". They deliberately do not use the tracer's encoders.
#pragma once

#include "tests/verification/oracle/branch.hpp"

#include <cstdint>

namespace rv64 {

constexpr std::uint32_t wfi = 0x10500073, mret = 0x30200073;
constexpr bool is_compressed(std::uint32_t word) { return (word & 3) != 3; }
constexpr unsigned rd(std::uint32_t word) { return word >> 7 & 31; }
constexpr unsigned rs1(std::uint32_t word) { return word >> 15 & 31; }
constexpr bool is_link(unsigned number) { return number == 1 || number == 5; }  // ra, t0

// JALR t0, offset(t0): a site's.
constexpr bool is_jalr_by_t0(std::uint32_t word) { return (word & 0x000fffff) == 0x000282e7; }
// CSRRS rd, cycle or time, x0.
constexpr bool reads_clock(std::uint32_t word) {
    const std::uint32_t from = word & ~(31u << 7);
    return from == 0xc0002073 || from == 0xc0102073;
}
// MV sp, rs: C.MV, or ADDI with 0.
constexpr bool is_move_to_sp(std::uint32_t word) {
    if (is_compressed(word)) return (word & 0xff83) == 0x8102 && (word >> 2 & 31) != 0;
    return (word & 0xfff07fff) == 0x00000113;
}

// Unconditional jumps. By the registers that they use, as a return predictor takes them.
constexpr Branch branch_of(std::uint32_t word) {
    if (is_compressed(word)) {
        if ((word & 0xe003) == 0xa001) return Branch::jump;  // C.J
        if ((word & 0xe07f) != 0x8002 || rd(word) == 0) return Branch::none;
        if ((word & 0x1000) != 0) return Branch::call;          // C.JALR
        return is_link(rd(word)) ? Branch::ret : Branch::jump;  // C.JR
    }
    if ((word & 0x7f) == 0x6f) return is_link(rd(word)) ? Branch::call : Branch::jump;  // JAL
    if ((word & 0x707f) != 0x67) return Branch::none;
    if (is_link(rd(word))) return Branch::call;
    return is_link(rs1(word)) ? Branch::ret : Branch::jump;
}

// Words from the assembler.
static_assert(branch_of(0x8082) == Branch::ret && branch_of(0x8282) == Branch::ret);    // jr ra, t0
static_assert(branch_of(0x8382) == Branch::jump && branch_of(0x9782) == Branch::call);  // jr t2
static_assert(branch_of(0x9002) == Branch::none && branch_of(0x812e) == Branch::none);  // ebreak
static_assert(branch_of(0x0000006f) == Branch::jump && branch_of(0x000000ef) == Branch::call);
static_assert(branch_of(0x00008067) == Branch::ret && branch_of(0x010282e7) == Branch::call);
static_assert(is_jalr_by_t0(0x804282e7) && !is_jalr_by_t0(0x00000013));
static_assert(reads_clock(0xc0102f73) && reads_clock(0xc0002573) && !reads_clock(0xc0202573));
static_assert(is_move_to_sp(0x812e) && is_move_to_sp(0x00058113) && !is_move_to_sp(0x8102));

}  // namespace rv64
