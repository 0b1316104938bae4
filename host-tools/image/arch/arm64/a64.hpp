// SPDX-License-Identifier: Apache-2.0
// The few A64 instruction words that a reader of images must know (Arm ARM, chapter C4 and C6).
#pragma once

#include <cstdint>

namespace nopscope::host::a64 {

inline constexpr std::uint32_t nop = 0xd503201f;
inline constexpr std::uint32_t bti_c = 0xd503245f;
inline constexpr std::uint32_t bti_j = 0xd503249f;
inline constexpr std::uint32_t bti_jc = 0xd50324df;
inline constexpr std::uint32_t paciasp = 0xd503233f;
inline constexpr std::uint32_t pacibsp = 0xd503237f;
inline constexpr std::uint32_t mov_x9_x30 = 0xaa1e03e9;

constexpr bool is_bl(std::uint32_t word) { return (word >> 26) == 0x25; }
// True if an indirect call or jump may land on the word. PACIxSP is an implicit BTI c.
constexpr bool is_landing_pad(std::uint32_t word) {
    return word == bti_c || word == bti_j || word == bti_jc || word == paciasp || word == pacibsp;
}

constexpr std::uint64_t sign_extend(std::uint64_t value, unsigned bits) {
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return (value ^ sign) - sign;
}

constexpr bool is_adr(std::uint32_t word) { return (word & 0x9f000000) == 0x10000000; }
constexpr bool is_adrp(std::uint32_t word) { return (word & 0x9f000000) == 0x90000000; }
constexpr std::uint64_t adr_immediate(std::uint32_t word) {
    return sign_extend(((word >> 5) & 0x7ffff) << 2 | ((word >> 29) & 3), 21);
}
// add xd, xn, #imm (64 bits, immediate not shifted)
constexpr bool is_add_immediate(std::uint32_t word) { return (word & 0xffc00000) == 0x91000000; }
constexpr std::uint32_t add_immediate(std::uint32_t word) { return (word >> 10) & 0xfff; }
// ldr xt, label
constexpr bool is_ldr_literal(std::uint32_t word) { return (word & 0xff000000) == 0x58000000; }
constexpr std::uint64_t literal_offset(std::uint32_t word) {
    return sign_extend(((word >> 5) & 0x7ffff) << 2, 21);
}
// ldr, ldrsw, prfm and their vector forms, from a literal
constexpr bool is_any_literal_load(std::uint32_t word) { return (word & 0x3b000000) == 0x18000000; }
// BLR and BR without pointer authentication: GCC emits no others.
constexpr bool is_blr(std::uint32_t word) { return (word & 0xfffffc1f) == 0xd63f0000; }
constexpr bool is_br(std::uint32_t word) { return (word & 0xfffffc1f) == 0xd61f0000; }
constexpr bool is_b(std::uint32_t word) { return (word >> 26) == 0x05; }
constexpr std::uint64_t branch26_offset(std::uint32_t word) {
    return sign_extend((word & 0x3ffffff) << 2, 28);
}
// b.cond and bc.cond. Their offset, and that of cbz and cbnz, has the form of a literal's offset.
constexpr bool is_conditional_branch(std::uint32_t word) {
    return (word & 0xff000000) == 0x54000000;
}
constexpr bool is_compare_branch(std::uint32_t word) { return (word & 0x7e000000) == 0x34000000; }
constexpr bool is_test_branch(std::uint32_t word) { return (word & 0x7e000000) == 0x36000000; }
constexpr std::uint64_t branch14_offset(std::uint32_t word) {
    return sign_extend(((word >> 5) & 0x3fff) << 2, 16);
}
constexpr unsigned rd(std::uint32_t word) { return word & 31; }
constexpr unsigned rn(std::uint32_t word) { return (word >> 5) & 31; }

// Bits 28..25 give an instruction's group (C4.1). True for data processing, which writes Rd.
constexpr bool writes_rd(std::uint32_t word) {
    const std::uint32_t op = (word >> 25) & 15;
    return (op & 14) == 8 || (op & 7) == 5;
}
// Loads and stores, also of vectors. All but loads of a literal have their base in Rn.
constexpr bool is_memory_access(std::uint32_t word) { return (word & 0x0a000000) == 0x08000000; }
// str xt, [xn, #offset]; str xt, [xn, #offset]!
constexpr bool is_store(std::uint32_t word) {
    return (word & 0xffc00000) == 0xf9000000 || (word & 0xffe00c00) == 0xf8000c00;
}
// stp xt, xt2, [xn, #offset]; stp xt, xt2, [xn, #offset]!
constexpr bool is_pair_store(std::uint32_t word) { return (word & 0xff400000) == 0xa9000000; }
// A load of one general register, which writes Rt. It ignores pairs and exclusives, because they
// never come between the two halves of an address.
constexpr bool is_single_load(std::uint32_t word) {
    return (word & 0x3a000000) == 0x38000000 && (word & 0x00c00000) != 0 && (word >> 26 & 1) == 0;
}

}  // namespace nopscope::host::a64
