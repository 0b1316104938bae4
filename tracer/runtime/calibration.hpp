// SPDX-License-Identifier: Apache-2.0
// What recording costs, measured at boot: each recorder on an empty function, with a core of its own that
// leaves no trace. The host takes it off the times it shows (docs/trace-format.md, "Overhead").
//
//     none    = loop with calls - loop without                the empty function's own time, with a landing
//                                                             pad; what that takes is measured, too
//     inside  = the time that the recorder gives - none       in the call's own time, and not its own
//     outside = loop with traced calls - loop without - the time that the recorder gives
//                                                             in its caller's
//
// So both add up to what a traced call takes more than an idle one. The least of a few repetitions.
#pragma once

#include "tracer/core/core.hpp"
#include "nopscope/nopscope.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope {

// On the core that calls it, before anything is traced, interrupts masked for some 15 microseconds of a
// 1 GHz core at a time; 290,000 instructions in all, whatever the image has. Uses `ring` (ring_bytes) and `shadow`
// (shadow_frames + 1), whose contents are void after it.
void calibrate(protocol::Hello& hello, std::uint64_t* ring, ShadowFrame* shadow, const Config& config);

}  // namespace nopscope
