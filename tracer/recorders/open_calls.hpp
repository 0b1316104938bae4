// SPDX-License-Identifier: Apache-2.0
// Open calls of contexts that do not run, and of other cores.
#pragma once

#include "nopscope/return_ops.hpp"
#include "tracer/core/ring.hpp"

#include <span>

namespace nopscope {

// For quiescence.hpp, whose requests make them one at a time. `first_time`: marks the contexts that
// may use a slot's object. Later: takes back the marks of those that do not any more. True: one is
// marked. A context that does not run has only its pc if it was preempted in code without a mark.
bool await_contexts(bool first_time, bool (*is_unmarked)(std::uint64_t pc));
// Sets the depth in the subtree to 0 for all contexts that do not run.
void forget_subtree_of_contexts();
// Removes the ops from the open calls in these frames: its exit is not called.
void forget_ops(std::span<ShadowFrame> frames, ReturnOps& ops);
// The same for all contexts, and for all cores.
void forget_ops_of_contexts(ReturnOps& ops);
void forget_ops_of_cores(ReturnOps& ops);

// When a recorder found a jump: on which core, Core::profiled, and then the clock.
struct Jump {
    const Core* on = nullptr;
    Moment began;
    std::uint64_t profiled = 0;
};
// At the entry of a function, with its SP and return address; `ops` or else a recorder comes to
// push a frame. If it was reached by a jump from a function that was itself reached by one, ends
// that one's call (tail_calls.hpp) and returns its return address. Else returns the same.
// Interrupts may be on.
std::uint64_t end_jumper(const Jump& jump, std::uint64_t sp, std::uint64_t return_address,
                         std::uint64_t function, const ReturnOps* ops);
// At such a jump: calls the exit of the ReturnOps of the top frame, which has this SP, and pops it.
void end_callbacks_call(std::uint64_t sp);

}  // namespace nopscope

// Unwinds to the open call with this SP, for its `hook`, whose work `began` after `before` of its
// instructions. Returns the top; the frame below it is the call's. If no open call has this SP:
// returns the call's return address plus stray_return (strays.hpp), or panics.
extern "C" std::uint64_t nopscope_unwind_at_return(const nopscope::Core* began_on, std::uint64_t sp,
                                                   nopscope::Moment began, std::uint32_t before,
                                                   std::uint64_t hook);
