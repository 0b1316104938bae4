// SPDX-License-Identifier: Apache-2.0
// The open calls of contexts that do not run, and of other cores.
#pragma once

#include "nopscope/return_ops.hpp"
#include "tracer/core/ring.hpp"

#include <span>

namespace nopscope {

// No context is in a subtree that is traced below.
void forget_subtree_of_contexts();
// The open calls in these frames forget the ops: its exit is not called.
void forget_ops(std::span<ShadowFrame> frames, ReturnOps& ops);
// The same for all contexts, and for all cores.
void forget_ops_of_contexts(ReturnOps& ops);
void forget_ops_of_cores(ReturnOps& ops);

}  // namespace nopscope

// Unwinds to an open call with this SP, for `hook` of a recorder that found out at `began`, after
// `before` of its instructions. Returns the top; the frame below it is the call's. If no open call
// has this SP: returns the call's return address plus stray_return (strays.hpp), or panics.
extern "C" std::uint64_t nopscope_unwind_at_return(nopscope::Core* here, std::uint64_t sp, nopscope::Moment began,
                                                   std::uint32_t before, std::uint64_t hook);
