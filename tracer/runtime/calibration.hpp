// SPDX-License-Identifier: Apache-2.0
// Measures the cost of recording at boot: each recorder traces an empty function on a scratch Core.
// The host subtracts the cost from the times that it shows (docs/trace-format.md, "Overhead").
//
//     none    = loop with calls - loop without calls     the empty function's own time, with a
//                                                        landing pad, whose time is measured, too
//     inside  = recorded time - none                     cost in the call's recorded time
//     outside = loop with traced calls - loop without calls - recorded time
//                                                        cost in the caller's time
//
// inside + outside is the extra time of a traced call. All are the least of a few repetitions.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/core.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope {

// Call it before anything is traced. It masks interrupts for about 15 microseconds at a time at
// 1 GHz. It takes 290,000 instructions in all, independent of the image. It overwrites `ring`
// (ring_bytes) and `shadow` (shadow_frames + 1).
void calibrate(protocol::Hello& hello, std::uint64_t* ring, ShadowFrame* shadow,
               const Config& config);

}  // namespace nopscope
