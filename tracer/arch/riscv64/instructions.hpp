// SPDX-License-Identifier: Apache-2.0
// RISC-V instruction words (contract: tracer/arch/instructions.hpp; RISC-V ISA Manual, volume I).
//
// A site's AUIPC and JALR make one address: the AUIPC, written once at boot, gives its upper part,
// and the JALR adds 12 bits. So a site reaches only what lies within 2 KiB of a point that is its
// own. There is a stub: a J to each recorder and trampoline. The stubs are there twice, one copy
// behind the other. One of the two is in reach of any site (stubs.S).
#pragma once

#include "tracer/arch/machine.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nopscope::arch {

inline constexpr std::uint32_t idle_word = 0x0000'0013;      // NOP, which is ADDI X0, X0, 0
inline constexpr std::uint32_t auipc_t0 = 0x0000'0297;       // and the upper 20 bits
inline constexpr std::uint32_t jalr_t0_t0 = 0x0002'82e7;     // and 12 bits above
inline constexpr std::uint32_t opcode_and_rd = 0x0000'0fff;  // of an AUIPC
inline constexpr std::uint32_t but_immediate = 0x000f'ffff;  // of a JALR

inline constexpr std::uint64_t call_bytes = 4;

// ---- stubs ----

inline constexpr std::uint64_t stub_bytes = 4;
inline constexpr std::size_t stub_count = 16;
inline constexpr std::uint64_t stub_copy_bytes = stub_count * stub_bytes;

struct Stubs {
    Address first;                     // of the first copy
    std::span<const Address> targets;  // what each stub jumps to
    constexpr CodeRange code() const { return {first, first + 2 * stub_copy_bytes}; }
};
#if defined(__riscv) && !defined(NOPSCOPE_SIMULATED)
extern "C" const char nopscope_stubs[];
extern "C" const Address nopscope_stub_targets[stub_count];
inline Stubs stubs() { return {reinterpret_cast<Address>(nopscope_stubs), nopscope_stub_targets}; }
#else
inline Stubs simulated_stubs{};  // for unit tests
inline Stubs stubs() { return simulated_stubs; }
#endif

// What an AUIPC adds, divided by 4096. JALR adds the signed rest of `distance`.
constexpr std::int64_t upper_part(std::int64_t distance) { return (distance + 0x800) >> 12; }
// From a site's function to the copy that it reaches.
constexpr std::int64_t distance_to_stubs(Address function, Address first) {
    const auto distance = static_cast<std::int64_t>(first - function);
    constexpr auto last = static_cast<std::int64_t>(stub_copy_bytes - stub_bytes);
    const bool reaches_all = upper_part(distance) == upper_part(distance + last);
    return reaches_all ? distance : distance + static_cast<std::int64_t>(stub_copy_bytes);
}
constexpr bool stubs_are_near(Address function, Address first) {
    constexpr std::int64_t reach = (std::int64_t{1} << 31) - 4096;
    const auto distance = static_cast<std::int64_t>(first - function);
    return distance >= -reach && distance < reach;
}
constexpr std::uint32_t address_stubs(Address function, Address first) {
    const std::int64_t upper = upper_part(distance_to_stubs(function, first));
    return auipc_t0 | static_cast<std::uint32_t>(upper) << 12;
}

// ---- the toggling word ----

// NOP, or a JALR to one stub. It is 4 bytes behind its function.
struct ToggleWord {
    Address first;       // of the stubs
    std::uint64_t stub;  // its distance from `first`; `none`: NOP

    static constexpr std::uint64_t none = ~std::uint64_t{0};
    constexpr std::uint32_t at(std::uint64_t base, std::uint64_t offset = 0) const {
        if (stub == none) return idle_word;
        const std::int64_t distance = distance_to_stubs(base + offset - 4, first);
        return jalr_t0_t0 |
               (static_cast<std::uint32_t>(distance) + static_cast<std::uint32_t>(stub)) << 20;
    }
};
inline constexpr ToggleWord always_idle{0, ToggleWord::none};
inline ToggleWord call_to(std::uint64_t target) {
    const Stubs there = stubs();
    for (std::size_t n = 0; n < there.targets.size(); ++n) {
        if (there.targets[n] == target) return {there.first, n * stub_bytes};
    }
    return always_idle;
}
// Whether no stub jumps to `target`.
inline bool is_out_of_reach(std::uint64_t target) {
    return call_to(target).stub == ToggleWord::none;
}
inline bool call_reaches(std::uint64_t at, std::uint64_t target) {
    const ToggleWord word = call_to(target);
    return word.stub != ToggleWord::none && stubs_are_near(at - 4, word.first);
}
inline std::optional<std::uint32_t> call_at(std::uint64_t at, std::uint64_t target) {
    if (!call_reaches(at, target)) return std::nullopt;
    return call_to(target).at(at);
}

// The assembler's words: auipc t0, 0 and jalr t0, 16(t0); then with a distance of -2048 + 4.
static_assert(address_stubs(0x1000, 0x1000) == auipc_t0);
static_assert(ToggleWord{0x1000, 16}.at(0x1004) == 0x0102'82e7);
static_assert(address_stubs(0x1800, 0x1004) == auipc_t0);
static_assert(ToggleWord{0x1004, 0}.at(0x1804) == 0x8042'82e7);
// The first copy would be reached in part only.
static_assert(address_stubs(0x1000, 0x17f0) == (auipc_t0 | 0x1000));
static_assert(ToggleWord{0x17f0, 4}.at(0x1004) == 0x8342'82e7);

// ---- calls in text ----

inline constexpr std::uint64_t instruction_alignment = 2;
template <typename M>
std::uint32_t halfword(M& machine, std::uint64_t address) {
    return machine.read_word(address & ~std::uint64_t{3}) >> (address & 2) * 8 & 0xffff;
}
// JAL, JALR or C.JALR that links in ra or t0. `address`: a multiple of 2.
template <typename M>
bool is_call_before(M& machine, std::uint64_t address) {
    const std::uint32_t last = halfword(machine, address - 2);
    if ((last & 0xf07f) == 0x9002 && (last & 0x0f80) != 0) return true;  // C.JALR
    const std::uint32_t word = last << 16 | halfword(machine, address - 4);
    const std::uint32_t rd = word >> 7 & 31;
    const bool is_jump = (word & 0x7f) == 0x6f || (word & 0x707f) == 0x67;
    return is_jump && (rd == 1 || rd == 5);
}

}  // namespace nopscope::arch
