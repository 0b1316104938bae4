// SPDX-License-Identifier: Apache-2.0
// A64 instruction words (contract: tracer/arch/instructions.hpp; Arm ARM DDI 0487, C6.2).
#pragma once

#include <cstdint>
#include <optional>

namespace nopscope::arch {

inline constexpr std::uint32_t idle_word = 0xd503201f;    // NOP
inline constexpr std::uint32_t landing_pad = 0xd503245f;  // BTI C
inline constexpr std::uint32_t save_link = 0xaa1e03e9;    // MOV X9, X30, which is ORR X9, XZR, X30

inline constexpr std::uint64_t call_bytes = 4;                     // BL
inline constexpr std::int64_t call_reach = std::int64_t{1} << 27;  // +-128 MiB

// NOP, or BL to one target, which must be in reach of the site.
struct ToggleWord {
    std::uint32_t opcode;
    std::uint32_t mask;  // of the offset
    std::uint64_t target;

    // The word at `base` + `offset`: two parameters, for loops in which only `base` changes.
    constexpr std::uint32_t at(std::uint64_t base, std::uint64_t offset = 0) const {
        return opcode | (static_cast<std::uint32_t>(target - offset - base) >> 2 & mask);
    }
};
inline constexpr ToggleWord always_idle{idle_word, 0, 0};
constexpr ToggleWord call_to(std::uint64_t target) { return {0x94000000u, 0x03ffffffu, target}; }

// Whether `target` is in range, and its distance a multiple of 4.
constexpr bool call_reaches(std::uint64_t at, std::uint64_t target) {
    const auto offset = static_cast<std::int64_t>(target - at);
    return offset >= -call_reach && offset < call_reach && (offset & 3) == 0;
}
constexpr bool is_out_of_reach(std::uint64_t) { return false; }
constexpr std::optional<std::uint32_t> call_at(std::uint64_t at, std::uint64_t target) {
    if (!call_reaches(at, target)) return std::nullopt;
    return call_to(target).at(at);
}
static_assert(always_idle.at(0x1234) == idle_word);

// Both ends of the range, and the words that the assembler gives.
static_assert(call_at(0x1000, 0x1004) == 0x94000001u);
static_assert(call_at(0x1000, 0x0ffc) == 0x97ffffffu);
static_assert(call_at(0, call_reach - 4) == 0x95ffffffu);
static_assert(!call_at(0, call_reach));
static_assert(call_at(call_reach, 0) == 0x96000000u);
static_assert(!call_at(call_reach + 4, 0));
static_assert(!call_at(0, 2));

inline constexpr std::uint64_t instruction_alignment = 4;
// BL, or BLR or one of its authenticating forms. `address`: a multiple of 4.
template <typename M>
bool is_call_before(M& machine, std::uint64_t address) {
    const std::uint32_t word = machine.read_word(address - 4);
    return (word & 0xfc00'0000) == 0x9400'0000 || (word & 0xfeff'f000) == 0xd63f'0000;
}

}  // namespace nopscope::arch
