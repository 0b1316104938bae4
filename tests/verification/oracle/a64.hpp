// SPDX-License-Identifier: Apache-2.0
// The A64 instructions that the oracles know. Encodings: Arm ARM DDI 0487, C5.3, C5.4 and C6.2.
// They deliberately do not use the tracer's encoders.
#pragma once

#include "tests/verification/oracle/branch.hpp"

#include <cstdint>

namespace a64 {

enum class Op : std::uint8_t {
    other,
    dsb,         // full, inner shareable or wider
    weaker_dsb,  // not shareable, or only for loads or stores: completes no maintenance here
    isb,
    eret,
    clean,                   // DC CVAU
    clean_beyond,            // DC CVAC, CVAP, CIVAC: to a point behind the point of unification
    zero,                    // DC ZVA: a store
    invalidate,              // IC IVAU
    invalidate_all,          // IC IALLUIS
    invalidate_all_of_core,  // IC IALLU
    translation,             // TLBI, or a write of SCTLR_EL1, TTBR0_EL1, TCR_EL1
    vectors,                 // a write of VBAR_EL1
    firmware,                // HVC, SMC
};

constexpr std::uint32_t nop = 0xd503201f, wfi = 0xd503207f;
// MRS Xt, CNTPCT_EL0, CNTVCT_EL0, their self-synchronized forms, or PMCCNTR_EL0.
constexpr bool reads_clock(std::uint32_t word) {
    const std::uint32_t from = word & ~31u;
    return from == 0xd53be020 || from == 0xd53be040 || from == 0xd53be0a0 || from == 0xd53be0c0 ||
           from == 0xd53b9d00;
}
// MOV SP, Xn: ADD (immediate), C6.2.4.
constexpr bool is_mov_to_sp(std::uint32_t word) { return (word & 0xfffffc1f) == 0x9100001f; }
constexpr bool is_b(std::uint32_t word) { return word >> 26 == 0x05; }
constexpr bool is_bl(std::uint32_t word) { return word >> 26 == 0x25; }
constexpr bool is_nop_or_bl(std::uint32_t word) { return word == nop || is_bl(word); }

// Unconditional branches (C4.1.66).
using ::Branch;
constexpr Branch branch_of(std::uint32_t word) {
    if (is_bl(word)) return Branch::call;
    if (is_b(word)) return Branch::jump;
    if ((word & 0xfe1f0000) != 0xd61f0000) return Branch::none;
    switch (word >> 21 & 0xf) {  // without bit 24, which is set if there is a PAC modifier
    case 0:
    case 8: return Branch::jump;  // BR, BRAA, BRAAZ
    case 1:
    case 9: return Branch::call;   // BLR, BLRAA, BLRAAZ
    case 2: return Branch::ret;    // RET, RETAA
    default: return Branch::none;  // ERET, DRPS
    }
}
constexpr std::uint64_t bl_target(std::uint32_t word, std::uint64_t at) {
    const auto offset = static_cast<std::int32_t>(word << 6) >> 4;
    return at + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset));
}

// B2.2.5: these may replace one another while another core executes them.
constexpr bool may_change_under_execution(std::uint32_t word) {
    const std::uint32_t call = word & 0xffe0001f;
    return is_nop_or_bl(word) || is_b(word) || (word & 0xfffff0ff) == 0xd50330df /* ISB */ ||
           call == 0xd4000001 /* SVC */ || call == 0xd4000002 /* HVC */ ||
           call == 0xd4000003 /* SMC */ || call == 0xd4200000 /* BRK */;
}

constexpr unsigned target_register(std::uint32_t word) { return word & 31; }

constexpr Op op_of(std::uint32_t word) {
    if ((word & 0xfffff0ff) == 0xd503309f) {
        const unsigned crm = word >> 8 & 15;
        return crm == 0xb || crm == 0x3 || crm == 0xf ? Op::dsb : Op::weaker_dsb;
    }
    if ((word & 0xfffff0ff) == 0xd50330df) return Op::isb;
    if (word == 0xd69f03e0 || (word & 0xfffffbff) == 0xd69f0bff) return Op::eret;
    switch (word & ~31u) {
    case 0xd50b7b20: return Op::clean;
    case 0xd50b7a20:
    case 0xd50b7c20:
    case 0xd50b7e20: return Op::clean_beyond;
    case 0xd50b7420: return Op::zero;
    case 0xd50b7520: return Op::invalidate;
    case 0xd5087100: return Op::invalidate_all;
    case 0xd5087500: return Op::invalidate_all_of_core;
    case 0xd5181000:
    case 0xd5182000:
    case 0xd5182040: return Op::translation;
    case 0xd518c000: return Op::vectors;
    }
    if ((word & 0xfff8f000) == 0xd5088000) return Op::translation;  // TLBI
    if ((word & 0xffe0001e) == 0xd4000002) return Op::firmware;
    return Op::other;
}

// Words from the assembler.
static_assert(op_of(0xd5033b9f) == Op::dsb && op_of(0xd5033f9f) == Op::dsb);
static_assert(op_of(0xd5033a9f) == Op::weaker_dsb && op_of(0xd503379f) == Op::weaker_dsb);
static_assert(op_of(0xd5033fdf) == Op::isb && op_of(0xd69f03e0) == Op::eret);
static_assert(op_of(0xd50b7b23) == Op::clean && op_of(0xd50b7525) == Op::invalidate);
static_assert(op_of(0xd508871f) == Op::translation && op_of(0xd5033bbf) == Op::other /* DMB */);
static_assert(is_mov_to_sp(0x910003bf) && !is_mov_to_sp(0x910003fd) /* MOV X29, SP */);
static_assert(branch_of(0xd65f03c0) == Branch::ret && branch_of(0xd63f0120) == Branch::call);
static_assert(branch_of(0xd61f0120) == Branch::jump && branch_of(0xd69f03e0) == Branch::none);
static_assert(bl_target(0x94000001, 0x1000) == 0x1004 && bl_target(0x97ffffff, 0x1000) == 0xffc);

}  // namespace a64
