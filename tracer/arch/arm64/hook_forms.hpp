// SPDX-License-Identifier: Apache-2.0
// The two forms of a hook (hook.h; contract: tracer/arch/hook_forms.hpp). As assembled, its first
// word is a BL and its last word a RET, which the return predictor pairs. On a CPU without BTI
// these become a B and a BR, which the return predictor ignores.
#pragma once

#include "tracer/arch/arm64/instructions.hpp"
#include "tracer/arch/arm64/maintenance.hpp"

#include <optional>

namespace nopscope::arch {

// The word that replaces this one. Nothing: no list of hook.h names such a word.
constexpr std::optional<std::uint32_t> indirect_form(std::uint32_t word) {
    constexpr std::uint32_t bl_over_one = 0x94000002, b_over_one = 0x14000002;
    constexpr std::uint32_t ret_x0 = 0xd65f0000, br_x0 = 0xd61f0000, number = 0x1f << 5;
    if (word == bl_over_one) return b_over_one;
    if ((word & ~number) == ret_x0) return br_x0 | (word & number);
    return std::nullopt;
}
// The assembler's words.
static_assert(indirect_form(0x94000002) == 0x14000002 && indirect_form(0xd65f0120) == 0xd61f0120);
static_assert(!indirect_form(0x94000003) && !indirect_form(0xd61f0120) &&
              !indirect_form(idle_word));

// Changes the words whose addresses for_each_word() gives its argument, the same ones each time.
// False: some word is not as assembled, and nothing was written. RET may not change under a core
// that executes it (Arm ARM, B2.2.5).
template <MachineConcept M, typename ForEachWord>
bool adapt_hooks(M& machine, ForEachWord for_each_word) {
    bool as_assembled = true;
    for_each_word(
        [&](Address at) { as_assembled &= indirect_form(machine.read_word(at)).has_value(); });
    if (!as_assembled) return false;
    Maintenance<M> maintenance(machine);
    for_each_word([&](Address at) {
        machine.write_word(at, *indirect_form(machine.read_word(at)));
        maintenance.note(at);
    });
    return true;
}

#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)
// The hooks' words (hook.h). An entry is the word's offset from the entry.
extern "C" const std::int32_t nopscope_hook_words[], nopscope_hook_words_end[];

template <typename Visit>
void for_each_hook_word(Visit visit) {
    for (const std::int32_t* entry = nopscope_hook_words; entry != nopscope_hook_words_end;
         ++entry) {
        visit(reinterpret_cast<std::uintptr_t>(entry) +
              static_cast<std::uint64_t>(std::int64_t{*entry}));
    }
}

// ID_AA64PFR1_EL1.BT. Without BTI an indirect branch may go to any instruction.
inline bool has_bti() {
    std::uint64_t features;
    asm("mrs %0, id_aa64pfr1_el1" : "=r"(features));
    return (features & 15) != 0;
}
template <MachineConcept M>
void adapt_hooks_to_cpu(M& machine) {
    if (has_bti()) return;
    (void)adapt_hooks(machine, [](auto visit) { for_each_hook_word(visit); });
}
#endif

}  // namespace nopscope::arch
