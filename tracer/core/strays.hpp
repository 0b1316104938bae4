// SPDX-License-Identifier: Apache-2.0
// Strays: hooked calls whose frame is not on the shadow stack of the context in which they return.
// Either the firmware did not report a switch, or context_switch() refused it. The tracer counts
// such a call and lets it return to its caller, without a record.
//
// Where is its return address?
// - On another context's shadow stack, if the call was made in a context: a stack pointer belongs
//   to one stack only. The frame stays there, marked as dead, until that context runs again and
//   closes it (flag `unwound`).
// - In a grave. If the calls of two stacks are on one shadow stack, it looks as if longjmp had
//   ended those with the lower SP. So unwind() buries the return address of every frame that it
//   closes. The newest grave with the SP and the hook is the right one: any later call at that
//   place of the stack has returned, or has a newer grave.
#pragma once

#include "tracer/core/core.hpp"
#include "tracer/core/hooks.hpp"

#include <span>

namespace nopscope {

// What nopscope_unwind_at_return adds to a return address, which ends in two zero bits.
inline constexpr std::uint64_t stray_return = 1;

struct Grave {
    std::uint64_t sp;
    std::uint64_t hook;
    std::uint64_t return_address;
};
// The number of calls that can be open. A new grave replaces the oldest.
inline constexpr std::size_t max_graves = shadow_frames;

// Keeps the return address of an open frame that is about to be freed.
inline void bury(Core& core, const ShadowFrame& frame) {
    if (core.graves == 0 || frame.sp == stray_frame_sp) return;
    auto* const graves = reinterpret_cast<Grave*>(core.graves);
    graves[core.buried++ % max_graves] = {frame.sp, frame.hook, frame.return_address};
}

// Returns the return address, or 0 if no grave has it. If a grave has it, this context runs on
// several stacks: from here on the tracer hooks none of its calls and counts them as off_stack.
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

// Returns the return address from another context's shadow stack and marks its frame as dead.
// Returns 0 if no frame has it. `frames`: those below the shadow stack's top.
inline std::uint64_t take_stray(std::span<ShadowFrame> frames, std::uint64_t sp,
                                std::uint64_t hook) {
    for (std::size_t n = frames.size(); n-- != 0;) {
        ShadowFrame& frame = frames[n];
        if (frame.sp != sp || frame.hook != hook) continue;
        frame.sp = stray_frame_sp;
        return frame.return_address;
    }
    return 0;
}
// take_stray() among all contexts, whether they run or not.
std::uint64_t take_stray_of_contexts(std::uint64_t sp, std::uint64_t hook);

}  // namespace nopscope
