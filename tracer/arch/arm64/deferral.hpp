// SPDX-License-Identifier: Apache-2.0
// C++'s view of deferral.S (contract: tracer/arch/deferral.hpp).
#pragma once

#include <cstdint>

namespace nopscope::arch {

#if defined(NOPSCOPE_DEFERS) && !defined(NOPSCOPE_SIMULATED)

extern "C" {
bool nopscope_try_vector(std::uint64_t vector, std::uint64_t spsr);
extern const char nopscope_recording[], nopscope_recording_end[];
// `begin` and `again` count instructions from nopscope_recording.
struct DeferralRule {
    std::uint16_t begin;
    std::uint16_t again;
    std::uint32_t actions;
};
extern const DeferralRule nopscope_rules[];
}

inline constexpr bool defers_interrupts = true;

// The bits of PSTATE that a later architecture added, as in SPSR_EL1: an ERET must keep them.
inline std::uint64_t later_pstate() {
    const auto field = [](std::uint64_t features, unsigned at) { return features >> at & 15; };
    std::uint64_t pfr0, pfr1, mmfr1, mmfr2, bits = 0, bit;
    asm("mrs %0, id_aa64pfr0_el1" : "=r"(pfr0));
    asm("mrs %0, id_aa64pfr1_el1" : "=r"(pfr1));
    asm("mrs %0, id_aa64mmfr1_el1" : "=r"(mmfr1));
    asm("mrs %0, s3_0_c0_c7_2" : "=r"(mmfr2));  // ID_AA64MMFR2_EL1
    if (field(mmfr1, 20) != 0) {
        asm volatile("mrs %0, s3_0_c4_c2_3" : "=r"(bit));  // PAN
        bits |= bit;
    }
    if (field(mmfr2, 4) != 0) {
        asm volatile("mrs %0, s3_0_c4_c2_4" : "=r"(bit));  // UAO
        bits |= bit;
    }
    if (field(pfr0, 48) != 0) {
        asm volatile("mrs %0, s3_3_c4_c2_5" : "=r"(bit));  // DIT
        bits |= bit;
    }
    if (field(pfr1, 4) >= 2) {
        asm volatile("mrs %0, s3_3_c4_c2_6" : "=r"(bit));  // SSBS
        bits |= bit;
    }
    if (field(pfr1, 8) >= 2) {
        asm volatile("mrs %0, s3_3_c4_c2_7" : "=r"(bit));  // TCO
        bits |= bit;
    }
    return bits;
}

// IRQs come to the vectors of the current level, those with SP_EL0 or SP_ELx (Arm ARM, D1.4.1).
inline bool vector_defers() {
    constexpr std::uint64_t el1t = 4, irq_with_sp_el0 = 0x80, irq_with_sp_elx = 0x280;
    std::uint64_t vectors, masks, stack;
    asm volatile("mrs %0, vbar_el1" : "=r"(vectors));
    asm volatile("mrs %0, daif" : "=r"(masks));
    asm volatile("mrs %0, spsel" : "=r"(stack));
    return nopscope_try_vector(vectors + (stack != 0 ? irq_with_sp_elx : irq_with_sp_el0),
                               el1t | stack | masks | later_pstate());
}

inline bool deferral_missed() {
    std::uint64_t elr;
    asm volatile("mrs %0, elr_el1" : "=r"(elr));
    const auto begin = reinterpret_cast<std::uintptr_t>(nopscope_recording);
    if (elr - begin >= reinterpret_cast<std::uintptr_t>(nopscope_recording_end) - begin)
        return false;
    const std::uint64_t at = (elr - begin) / 4;
    const DeferralRule* rule = nopscope_rules;
    while (rule[1].begin <= at) ++rule;
    // Behind a store-exclusive that succeeded, code without FINISHES may be interrupted.
    constexpr std::uint32_t unless = 4 | 8, finishes = 32 | 64;
    if ((rule->actions & unless) != 0) return (rule->actions & finishes) != 0;
    return rule->actions != 0 && rule->again != at;
}

#else

inline constexpr bool defers_interrupts = false;
#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)
inline bool vector_defers() { return true; }
inline bool deferral_missed() { return false; }
#endif

#endif

}  // namespace nopscope::arch
