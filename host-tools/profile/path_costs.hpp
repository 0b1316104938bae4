// SPDX-License-Identifier: Apache-2.0
// What recording a call takes where it does not go the usual way, which boot does not measure. It is known as a number
// of instructions (tracer/arm64/recorders.S), and taken to cost what the recorder's others do; the tests truth.*
// fail where a number is not the code's.
//
//   tail call   Its entry has to find out that the frame below, which has the same stack pointer, is alive. That
//               stays in the time of the function that jumps.
//   longjmp     A call that it leaves has no return: what is measured with one is not in the times.
#pragma once

#include <cstdint>

#include "host-tools/line/session.hpp"

namespace nopscope {

inline constexpr std::int64_t graph_instructions = 51;    // of an entry and a return, on the usual path
inline constexpr std::int64_t tail_instructions = 15;     // more, of a tail call's entry
inline constexpr std::int64_t hook_instructions = 10;     // of a return, until it reads the clock; and as many after

// 1/256 ticks.
inline std::int64_t graph_overhead(const HelloInfo& hello) {
    const wire::Overhead& graph = hello.overheads[static_cast<std::size_t>(wire::RecorderNumber::graph)];
    const std::int64_t sum = std::int64_t{graph.inside} + graph.outside;
    return hello.calibrated && sum > 0 ? sum : 0;
}

// The ends of two calls that one RET ends are fewer ticks apart: a caller's own way back takes two instructions more. 0:
// the clock cannot tell.
inline std::uint64_t handed_within(const HelloInfo& hello) {
    const std::int64_t sum = graph_overhead(hello);
    if (sum * tail_instructions < graph_instructions * wire::overhead_unit) return 0;
    return static_cast<std::uint64_t>(sum * (2 * hook_instructions + 1) / graph_instructions / wire::overhead_unit) + 1;
}

}  // namespace nopscope
