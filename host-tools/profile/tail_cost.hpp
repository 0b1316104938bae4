// SPDX-License-Identifier: Apache-2.0
// What the graph recorder takes more where a call is a tail call: its entry has to find out that the frame below,
// which has the same stack pointer, is alive. It stays in the time of the function that jumps.
//
// Boot does not measure it. It is known as a number of instructions (tracer/arm64/recorders.S) and taken to cost
// what the recorder's others do; the tests truth.* fail if a number here is not the code's.
#pragma once

#include <cstdint>

#include "host-tools/line/session.hpp"

namespace nopscope {

inline constexpr std::int64_t graph_instructions = 51;    // of an entry and a return, on the usual path
inline constexpr std::int64_t tail_instructions = 15;     // more, of a tail call's entry
inline constexpr std::int64_t return_instructions = 20;   // from one hook's clock to that of a hook that it returns to

// 1/256 ticks.
inline std::int64_t graph_overhead(const HelloInfo& hello) {
    const wire::Overhead& graph = hello.overheads[static_cast<std::size_t>(wire::RecorderNumber::graph)];
    const std::int64_t sum = std::int64_t{graph.inside} + graph.outside;
    return hello.calibrated && sum > 0 ? sum : 0;
}

// Ticks between the ends of two calls that one RET ends, at most: a caller's own way back takes two instructions
// more. 0: the clock cannot tell.
inline std::uint64_t handed_within(const HelloInfo& hello) {
    const std::int64_t sum = graph_overhead(hello);
    if (sum * tail_instructions < graph_instructions * wire::overhead_unit) return 0;
    return static_cast<std::uint64_t>(sum * (return_instructions + 1) / graph_instructions / wire::overhead_unit);
}

}  // namespace nopscope
