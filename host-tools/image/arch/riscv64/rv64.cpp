// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/riscv64/rv64.hpp"

namespace nopscope::host::rv64 {
namespace {

// Bits [from, from + count) of the word, at bit `to`.
constexpr std::uint32_t bits(std::uint32_t word, unsigned from, unsigned count, unsigned to = 0) {
    return (word >> from & ((1u << count) - 1)) << to;
}
constexpr std::int64_t sign_extend(std::uint32_t value, unsigned count) {
    return static_cast<std::int32_t>(value << (32 - count)) >> (32 - count);
}

Decoded decode_long(std::uint32_t word) {
    const unsigned rd = bits(word, 7, 5), rs1 = bits(word, 15, 5), rs2 = bits(word, 20, 5);
    const unsigned function = bits(word, 12, 3);
    const std::int64_t upper = sign_extend(word & 0xfffff000, 32);
    const std::int64_t immediate = sign_extend(word >> 20, 12);
    switch (word & 0x7f) {
    case 0x03: return {4, function == 3 ? Kind::ld : Kind::other, rd, rs1, 0, immediate};
    case 0x07: return {.rs1 = rs1};  // loads of floating point
    case 0x13: return {4, function == 0 ? Kind::addi : Kind::other, rd, rs1, 0, immediate};
    case 0x17: return {4, Kind::auipc, rd, 0, 0, upper};
    case 0x1b: return {.rd = rd, .rs1 = rs1};
    case 0x23: return {4, Kind::store, 0, rs1, rs2, sign_extend(bits(word, 25, 7, 5) | rd, 12)};
    case 0x27: return {.rs1 = rs1};  // stores of floating point
    case 0x2f:
    case 0x33:
    case 0x3b: return {.rd = rd, .rs1 = rs1, .rs2 = rs2};
    case 0x37: return {4, Kind::lui, rd, 0, 0, upper};
    case 0x53: return {.rd = rd};  // some write a general register
    case 0x63:
        return {4,
                Kind::branch,
                0,
                rs1,
                rs2,
                sign_extend(bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) |
                                bits(word, 8, 4, 1),
                            13)};
    case 0x67: return {4, Kind::jalr, rd, rs1, 0, immediate};
    case 0x6f:
        return {4,
                Kind::jal,
                rd,
                0,
                0,
                sign_extend(bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) |
                                bits(word, 21, 10, 1),
                            21)};
    case 0x73: return {.rd = rd, .rs1 = function >= 1 && function <= 3 ? rs1 : 0};
    default: return {};
    }
}

std::int64_t jump_offset(std::uint32_t half) {  // c.j
    return sign_extend(bits(half, 12, 1, 11) | bits(half, 11, 1, 4) | bits(half, 9, 2, 8) |
                           bits(half, 8, 1, 10) | bits(half, 7, 1, 6) | bits(half, 6, 1, 7) |
                           bits(half, 3, 3, 1) | bits(half, 2, 1, 5),
                       12);
}
std::int64_t branch_offset(std::uint32_t half) {  // c.beqz, c.bnez
    return sign_extend(bits(half, 12, 1, 8) | bits(half, 10, 2, 3) | bits(half, 5, 2, 6) |
                           bits(half, 3, 2, 1) | bits(half, 2, 1, 5),
                       9);
}

// c.jr, c.mv, c.ebreak, c.jalr, c.add
Decoded decode_moves(std::uint32_t half) {
    const unsigned rd = bits(half, 7, 5), rs2 = bits(half, 2, 5);
    const bool adds = bits(half, 12, 1) != 0;
    if (rs2 == 0) {
        if (rd == 0) return {.bytes = 2};
        return {2, Kind::jalr, adds ? ra : 0, rd, 0, 0};
    }
    return {.bytes = 2, .rd = rd, .rs1 = adds ? rd : 0, .rs2 = rs2};
}

Decoded decode_short(std::uint32_t half) {
    const unsigned rd = bits(half, 7, 5), rs2 = bits(half, 2, 5);
    const unsigned low = 8 + bits(half, 2, 3), high = 8 + bits(half, 7, 3);  // x8 to x15
    switch (bits(half, 0, 2) << 3 | bits(half, 13, 3)) {
    case 000: return {.bytes = 2, .rd = low, .rs1 = sp};
    case 001:
    case 005: return {.bytes = 2, .rs1 = high};
    case 002:
    case 003: return {.bytes = 2, .rd = low, .rs1 = high};
    case 006:
    case 007: return {2, Kind::store, 0, high, low, 0};
    case 010:
    case 011:
    case 020: return {.bytes = 2, .rd = rd, .rs1 = rd};
    case 012: return {.bytes = 2, .rd = rd};
    case 013:
        if (rd == sp) return {.bytes = 2, .rd = sp, .rs1 = sp};
        return {2, Kind::lui, rd,
                0, 0,         sign_extend(bits(half, 12, 1, 17) | bits(half, 2, 5, 12), 18)};
    case 014: return {.bytes = 2, .rd = high, .rs1 = high, .rs2 = bits(half, 10, 2) == 3 ? low : 0};
    case 015: return {2, Kind::jal, 0, 0, 0, jump_offset(half)};
    case 016:
    case 017: return {2, Kind::branch, 0, high, 0, branch_offset(half)};
    case 021:
    case 025: return {.bytes = 2, .rs1 = sp};
    case 022:
    case 023: return {.bytes = 2, .rd = rd, .rs1 = sp};
    case 024: return decode_moves(half);
    case 026:
    case 027: return {2, Kind::store, 0, sp, rs2, 0};
    default: return {.bytes = 2};
    }
}

}  // namespace

Decoded decode(std::uint32_t word) {
    return (word & 3) == 3 ? decode_long(word) : decode_short(word & 0xffff);
}

}  // namespace nopscope::host::rv64
