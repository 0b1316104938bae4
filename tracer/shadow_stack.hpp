// SPDX-License-Identifier: Apache-2.0
// The slow side of the shadow stack: calls that longjmp skipped. Rules in core.hpp.
#pragma once

#include "tracer/ring.hpp"

namespace nopscope {

inline ShadowFrame* top_frame(const Core& core) {
    return reinterpret_cast<ShadowFrame*>(core.top) - 1;
}

// Empties the stack of `count` frames, the sentinel among them, for calls with an SP below stack_high.
inline void reset_shadow_stack(Core& core, ShadowFrame* frames, std::size_t count,
                               std::uint64_t stack_high) {
    for (std::size_t i = 0; i < count; ++i) frames[i].sp = free_frame_sp;
    frames[0].sp = core.stack_high = stack_high;
    core.top = reinterpret_cast<std::uintptr_t>(frames + 1);
    core.shadow_end = reinterpret_cast<std::uintptr_t>(frames + count);
}

// Closes, with the flag `unwound`, every frame that a call with this SP shows to be dead: those with
// a lower SP and, when `same_sp_too`, those with the same. A free frame on top belongs to a call that
// an interrupt caught while it was pushing or popping: it ends the search. Returns the new top.
// Interrupts are masked meanwhile, for a traced one would pop the same frames.
template <MachineConcept M>
std::uint64_t unwind(M& machine, Core& core, std::uint64_t sp, bool same_sp_too) {
    const std::uint64_t interrupts = machine.mask_interrupts();
    for (;;) {
        ShadowFrame* frame = top_frame(core);
        if (frame->sp == free_frame_sp || frame->sp >= core.stack_high) break;
        if (frame->sp > sp || (frame->sp == sp && !same_sp_too)) break;
        const auto entry = static_cast<std::uint32_t>(record_index(frame->position));
        frame->sp = free_frame_sp;
        core.top = reinterpret_cast<std::uintptr_t>(frame);
        constexpr std::uint32_t unwound = 1;
        (void)ring_put(machine, core, wire::make_record(wire::Kind::ret, entry << 1 | unwound, 0),
                       no_limit);
    }
    machine.restore_interrupts(interrupts);
    return core.top;
}

}  // namespace nopscope
