// SPDX-License-Identifier: Apache-2.0
// The overhead of calls that the recorder handles in an unusual way, which boot does not measure.
// It is known as a number of instructions (PathLengths), which are assumed to be as fast as the
// recorder's others.
//
//   tail call   Its entry has to find out that the frame below, which has the same stack pointer,
//               is alive. The time is in the function that jumps.
//   longjmp     The call that it leaves runs no return hook, so the times lack the hook's overhead.
//   brackets    Instructions before a tracer_begin and after a tracer_end: the records count them.
#pragma once

#include <cstdint>

#include "host-tools/image/arch/arch.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// 1/256 ticks.
inline std::int64_t graph_overhead(const HelloInfo& hello) {
    const protocol::Overhead& graph =
        hello.overheads[protocol::overhead_index(protocol::Recorder::graph)];
    const std::int64_t sum = std::int64_t{graph.inside} + graph.outside;
    return hello.calibrated && sum > 0 ? sum : 0;
}

// One RET may end two calls, a tail call and its caller. Then the ends are fewer ticks apart: a
// caller that returns by itself takes at least two more instructions. A slow clock shows only a
// known share of such ends less than `within` apart. It seldom shows other ends that close, because
// most callers do more. So each pair that it shows counts as `weight` / `one` pairs.
struct Handed {
    static constexpr std::int64_t one = 256;
    std::uint64_t within = 0;  // ticks
    std::int64_t weight = one;
};
inline Handed handed_of(const HelloInfo& hello) {
    const std::int64_t sum = graph_overhead(hello);
    if (sum == 0) return {};
    const PathLengths& paths = arch_of(hello.architecture).paths;
    const std::int64_t apart =
        sum * (paths.hook_before_clock + paths.hook_after_clock + 1) / paths.graph;  // 1/256 ticks
    const auto within = static_cast<std::uint64_t>(apart / protocol::overhead_unit) + 1;
    if (sum * paths.tail >= paths.graph * protocol::overhead_unit) return {within};
    return {within, Handed::one * protocol::overhead_unit /
                        (protocol::overhead_unit - apart % protocol::overhead_unit)};
}

}  // namespace nopscope::host
