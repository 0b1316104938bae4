// SPDX-License-Identifier: Apache-2.0
// The recording overhead of a call, by its path, as the target measured it at boot. `inside` is the
// part in the call's own time, `outside` the part in its caller's time. Both are in 1/256 ticks.
//
// The decoder sums them up in a clock (Profile::Context::taken): a call's return adds its `inside`,
// and then its `outside`. So the clock's advance between a call's entry and its return is the
// overhead in this call, and each duration is corrected by the constants of its own call. A
// function without a landing pad has a fixed time in `inside` that others have in `outside`. The
// callers' times do not change, so the report corrects min, mean, max and bins exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "host-tools/calls/function_table.hpp"
#include "host-tools/figures/profile/call_tree.hpp"
#include "host-tools/figures/profile/path_costs.hpp"
#include "host-tools/image/tail_calls.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// Facts from the image's code about functions, by link-time address. Called once for each path.
struct CodeOfCalls {
    std::function<Tail(std::uint64_t caller, std::uint64_t callee)> tail;
    std::function<bool(std::uint64_t function)> has_no_landing_pad;
};

struct CallCosts {
    CallCosts() = default;
    explicit CallCosts(const HelloInfo& hello)
        : paths(arch_of(hello.architecture).paths),
          graph(overhead(hello, protocol::Recorder::graph)),
          function(overhead(hello, protocol::Recorder::function)),
          duration(overhead(hello, protocol::Recorder::duration)),
          profile(overhead(hello, protocol::Recorder::profile)),
          base(hello.text_base - hello.load_bias),
          landing_pad(hello.landing_pad),
          graph_sum(graph_overhead(hello)),
          tail(of_instructions(paths.tail)),
          hook_inside(
              std::min<std::int64_t>(of_instructions(paths.hook_before_clock), graph.inside)),
          hook_outside(
              std::min<std::int64_t>(of_instructions(paths.hook_after_clock), graph.outside)) {}

    // The time of `count` of the graph recorder's instructions, if all take the same time.
    std::int64_t of_instructions(std::uint32_t count) const {
        return static_cast<std::int64_t>(__extension__ __int128{graph_sum} * count / paths.graph);
    }
    // The number of such instructions that take this time.
    std::uint64_t instructions_of(std::int64_t cost) const {
        if (graph_sum <= 0 || cost <= 0) return 0;
        return static_cast<std::uint64_t>(
            (__extension__ __int128{cost} * paths.graph + graph_sum / 2) / graph_sum);
    }
    // Sets a path's costs. An interrupt gets none: the target does not measure its begin and end.
    void set(CallTree& tree, const FunctionTable& functions, std::uint32_t number,
             const CodeOfCalls& code) const {
        CallTree::Node& node = tree[number];
        const std::uint32_t offset = functions.offset(node.function);
        const bool is_overflow = node.kind == CallTree::Kind::overflow;
        const bool usual = is_overflow || (node.is_path() && !is_interrupt(offset));
        node.inside = usual ? graph.inside : 0;
        node.outside = usual ? graph.outside : 0;
        node.tail = Tail::never;
        node.no_landing_pad = false;
        if (!usual || is_overflow) return;
        node.no_landing_pad = code.has_no_landing_pad && code.has_no_landing_pad(base + offset);
        if (!tree[node.parent].is_path() || !code.tail || tail == 0) return;
        const std::uint32_t caller = functions.offset(tree[node.parent].function);
        if (is_interrupt(caller)) return;
        node.tail = code.tail(base + caller, base + offset);
        if (node.tail == Tail::always) node.outside += tail;
    }

    PathLengths paths{.graph = 1, .tail = 0, .hook_before_clock = 0, .hook_after_clock = 0};
    protocol::Overhead graph;
    protocol::Overhead function;
    protocol::Overhead duration;
    protocol::Overhead profile;
    std::uint64_t base = 0;  // link-time address of offset 0
    std::int64_t landing_pad = 0;
    std::int64_t graph_sum = 0;  // inside and outside
    std::int64_t tail = 0;       // extra time of a tail call's entry, in its caller's time
    // A call that longjmp left ran no return hook: its overhead is less by these. Neither is more
    // than the graph recorder's `inside` or `outside`.
    std::int64_t hook_inside = 0;
    std::int64_t hook_outside = 0;

private:
    static const protocol::Overhead& overhead(const HelloInfo& hello, protocol::Recorder recorder) {
        return hello.overheads[protocol::overhead_index(recorder)];
    }
};

}  // namespace nopscope::host
