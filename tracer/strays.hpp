// SPDX-License-Identifier: Apache-2.0
// Strays: hooked calls that return where their frame is not on the running context's shadow stack, since the core was
// not told of a switch, or context_switch() refused it. Such a call returns to its caller without a record, counted.
//
// Where is its return address?
// - On another context's shadow stack, if it was made in a context: a stack pointer is of one stack only. The frame
//   stays where it is, marked as dead, until that context runs again and closes it (flag `unwound`).
// - In a grave: calls of two stacks on one shadow stack look as if longjmp had left those with the lower SP. So the
//   return address of every frame that unwind() closes is buried. The newest grave of an SP and a hook is the right
//   one: a call on that stack that was made later has returned, or has a newer grave.
#pragma once

#include "tracer/core.hpp"
#include "tracer/hooks.hpp"

#include <span>

namespace nopscope {

// What nopscope_unwind_at_return adds to a return address, which ends in two zero bits.
inline constexpr std::uint64_t stray_return = 1;

struct Grave {
    std::uint64_t sp;
    std::uint64_t hook;
    std::uint64_t return_address;
};
// As many as there can be open calls. Older ones make room.
inline constexpr std::size_t max_graves = shadow_frames;

// An open frame, before it is freed.
inline void bury(Core& core, const ShadowFrame& frame) {
    if (core.graves == 0 || frame.sp == stray_frame_sp) return;
    auto* const graves = reinterpret_cast<Grave*>(core.graves);
    graves[core.buried++ % max_graves] = {frame.sp, frame.hook, frame.return_address};
}

// The return address, 0 if it is not there. From here on no call is hooked in this context, whose calls are of several
// stacks: their SPs are foreign, and counted.
inline std::uint64_t exhume(Core& core, std::uint64_t sp, std::uint64_t hook) {
    auto* const graves = reinterpret_cast<Grave*>(core.graves);
    const std::uint64_t kept = core.buried < max_graves ? core.buried : max_graves;
    for (std::uint64_t age = 1; graves != nullptr && age <= kept; ++age) {
        Grave& grave = graves[(core.buried - age) % max_graves];
        if (grave.sp != sp || grave.hook != hook) continue;
        grave.sp = free_frame_sp;
        core.stack_low = ~std::uint64_t{0};
        return grave.return_address;
    }
    return 0;
}

// The same on another context's shadow stack: `frames`, all that it has room for.
inline std::uint64_t take_stray(std::span<ShadowFrame> frames, std::uint64_t sp, std::uint64_t hook) {
    for (std::size_t n = frames.size(); n-- != 0;) {
        ShadowFrame& frame = frames[n];
        if (frame.sp != sp || frame.hook != hook) continue;
        frame.sp = stray_frame_sp;
        return frame.return_address;
    }
    return 0;
}
// Among all contexts that were created, and among the main ones of all cores.
std::uint64_t take_stray_of_contexts(std::uint64_t sp, std::uint64_t hook);
std::uint64_t take_stray_of_cores(std::uint64_t sp, std::uint64_t hook);

}  // namespace nopscope
