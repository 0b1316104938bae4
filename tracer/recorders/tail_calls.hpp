// SPDX-License-Identifier: Apache-2.0
// Tail calls. A function that ends in a jump leaves its return address, which is a hook, and its SP
// to the next one. The frame of that one nests in its own. A state machine or an interpreter may
// jump for ever, and the shadow stack has an end. So a chain has the frames of two functions at
// most:
//
// - of the one that was called. It returns when the chain does, and its time is that of the chain;
// - of the one that runs. It was reached by a jump, and its call ends where it jumps on.
//
// A function with a ReturnOps has more than one frame: those of its ReturnOps, and then the
// recorder's, whose return address is the hook of the frame below, too. So the first frame of a
// ReturnOps for a call that was reached by a jump has a mark. A recorder's frame on top of one of a
// ReturnOps has none. It counts as the same call's.
#pragma once

#include "nopscope/return_ops.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {

// In `position` of a ReturnOps' frame, beside the function.
inline constexpr std::uint64_t reached_by_jump = 1;

inline std::uint64_t function_of(const ShadowFrame& callback_frame) {
    return callback_frame.position & ~reached_by_jump;
}
inline bool is_callback(const ShadowFrame& frame) {
    return frame.hook == hook_address(Hook::callback);
}
inline bool is_marked(const ShadowFrame& frame) {
    return is_callback(frame) && (frame.position & reached_by_jump) != 0;
}
// True if the call returns to the hook of the frame below.
inline bool returns_to_hook(const ShadowFrame& frame) {
    return frame.return_address == (&frame)[-1].hook;
}

// At the entry of `function`, with this SP and return address: true if the function on top has
// jumped to it. False: it was called, or some of its ReturnOps have pushed their frames already.
// `ops`, or else a recorder, comes to push the next one.
inline bool is_reached_by_jump(const Core& core, std::uint64_t sp, std::uint64_t return_address,
                               std::uint64_t function, const ReturnOps* ops) {
    const ShadowFrame* frame = top_frame(core);
    if (frame->sp != sp || frame->hook != return_address) return false;
    if (!is_callback(*frame)) return true;
    for (;; --frame) {
        const bool is_again =
            ops != nullptr && frame->rest[0] == reinterpret_cast<std::uintptr_t>(ops);
        if (function_of(*frame) != function || is_again) return true;
        if (is_marked(*frame) || !returns_to_hook(*frame)) return false;
    }
}

// The lowest frame of the function on top, if that was reached by a jump. Else null.
inline ShadowFrame* first_of_jumper(const Core& core) {
    ShadowFrame* frame = top_frame(core);
    while (returns_to_hook(*frame)) {
        if (is_marked(*frame) || !is_callback(frame[-1])) return frame;
        --frame;
    }
    return nullptr;
}

// Ends the call of a recorder's frame, which was just popped, as its return would, at the jump.
// Interrupts are masked. `began`: when the jump was found, if on this core. `profiled`: what
// Core::profiled was just before.
// All that comes after `began` is the tracer's time, in a pair of brackets behind the return. A
// pair before it, without a length, counts the instructions before `began`.
template <MachineConcept M>
void end_at_jump(M& machine, Core& core, const ShadowFrame& frame, Moment began,
                 std::uint64_t profiled) {
    if (began.position == 0) began = moment(machine, core);
    using enum protocol::Extended;
    std::uint32_t after = 0;
    bool is_told = core.context_record_pending == 0 && core.tracer_marked == 0;
    const auto tell = [&](protocol::Extended what, std::uint32_t instructions, Moment* at) {
        is_told = is_told && put_own_said(machine, core, what, instructions, at);
    };
    switch (hook_of(frame.hook)) {
    case Hook::graph:
    case Hook::graph_events:
        tell(tracer_begin, arch::jump_before, &began);
        tell(tracer_end, 0, &began);
        put_return(machine, core, frame, false, began);
        break;
    case Hook::profile_events: profile_events_unwound(core, frame); [[fallthrough]];
    case Hook::profile:
        return profile_unwound(machine, core, frame, profiled == core.profiled ? began.clock : 0);
    case Hook::duration:
        if (!duration_unwound(machine, core, frame, &began)) return;
        after = arch::jump_after;
        break;
    case Hook::callback:
    case Hook::none: return;
    }
    tell(tracer_begin, 0, &began);
    tell(tracer_end, after, nullptr);
}

}  // namespace nopscope
