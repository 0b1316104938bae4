// SPDX-License-Identifier: Apache-2.0
// The A64 instruction words a patch site is made of. Encodings: Arm ARM DDI 0487, C6.2.
#pragma once

#include <cstdint>
#include <optional>

namespace nopscope::insn {

inline constexpr std::uint32_t nop = 0xd503201f;
inline constexpr std::uint32_t bti_c = 0xd503245f;
inline constexpr std::uint32_t mov_x9_lr = 0xaa1e03e9;  // ORR X9, XZR, X30

inline constexpr std::int64_t branch_reach = std::int64_t{1} << 27;  // +-128 MiB

// One word for every site: NOP, or BL to one target, which must be in reach of the site.
struct Encoder {
    std::uint32_t opcode;
    std::uint32_t mask;  // of the offset
    std::uint64_t target;

    // At `base` + `offset`; the two are apart for loops in which only `base` changes.
    constexpr std::uint32_t at(std::uint64_t base, std::uint64_t offset = 0) const {
        return opcode | (static_cast<std::uint32_t>(target - offset - base) >> 2 & mask);
    }
};
inline constexpr Encoder always_nop{nop, 0, 0};
constexpr Encoder bl_to(std::uint64_t target) { return {0x94000000u, 0x03ffffffu, target}; }

// Both 4-byte aligned, and near enough.
constexpr bool bl_reaches(std::uint64_t at, std::uint64_t target) {
    const auto offset = static_cast<std::int64_t>(target - at);
    return offset >= -branch_reach && offset < branch_reach && (offset & 3) == 0;
}
// BL from `at` to `target`. Nothing when it is out of reach.
constexpr std::optional<std::uint32_t> bl(std::uint64_t at, std::uint64_t target) {
    if (!bl_reaches(at, target)) return std::nullopt;
    return bl_to(target).at(at);
}
static_assert(always_nop.at(0x1234) == nop);

// Both ends of the range, and the words the assembler gives.
static_assert(bl(0x1000, 0x1004) == 0x94000001u);
static_assert(bl(0x1000, 0x0ffc) == 0x97ffffffu);
static_assert(bl(0, branch_reach - 4) == 0x95ffffffu);
static_assert(!bl(0, branch_reach));
static_assert(bl(branch_reach, 0) == 0x96000000u);
static_assert(!bl(branch_reach + 4, 0));
static_assert(!bl(0, 2));

}  // namespace nopscope::insn
