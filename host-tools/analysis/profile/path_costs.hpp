// SPDX-License-Identifier: Apache-2.0
// What recording a call takes where it does not go the usual way, which boot does not measure. It is known as a number
// of instructions (tracer/arch/arm64/recorders.S), and taken to cost what the recorder's others do; the tests truth.*
// fail where a number is not the code's.
//
//   tail call   Its entry has to find out that the frame below, which has the same stack pointer, is alive. That
//               stays in the time of the function that jumps.
//   longjmp     A call that it leaves has no return: what is measured with one is not in the times.
//   brackets    What lies before a tracer_begin and after a tracer_end: the target says how many, with them.
#pragma once

#include <cstdint>

#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {

inline constexpr std::int64_t graph_instructions = 52;    // of an entry and a return, on the usual path
inline constexpr std::int64_t tail_instructions = 14;     // more, of a tail call's entry
inline constexpr std::int64_t hook_before_clock = 11;     // of a return, until it has read the clock
inline constexpr std::int64_t hook_after_clock = 10;      // and after

// 1/256 ticks.
inline std::int64_t graph_overhead(const HelloInfo& hello) {
    const protocol::Overhead& graph = hello.overheads[protocol::overhead_index(protocol::Recorder::graph)];
    const std::int64_t sum = std::int64_t{graph.inside} + graph.outside;
    return hello.calibrated && sum > 0 ? sum : 0;
}

// The ends of two calls that one RET ends are fewer ticks apart: a caller's own way back takes two instructions more. A
// clock too slow to see these shows such ends so close in a part of the cases that is known, and others, which usually
// have more to do, seldom: each then stands for more than one.
struct Handed {
    static constexpr std::int64_t one = 256;
    std::uint64_t within = 0;  // ticks
    std::int64_t weight = one;
};
inline Handed handed_of(const HelloInfo& hello) {
    const std::int64_t sum = graph_overhead(hello);
    if (sum == 0) return {};
    const std::int64_t apart = sum * (hook_before_clock + hook_after_clock + 1) / graph_instructions;  // 1/256 ticks
    const auto within = static_cast<std::uint64_t>(apart / protocol::overhead_unit) + 1;
    if (sum * tail_instructions >= graph_instructions * protocol::overhead_unit) return {within};
    return {within, Handed::one * protocol::overhead_unit / (protocol::overhead_unit - apart % protocol::overhead_unit)};
}

}  // namespace nopscope::host
