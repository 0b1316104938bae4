// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/correction.hpp"

#include <algorithm>

namespace nopscope::host {
namespace {

using Signed = SignedFixedTicks;

// The overhead in each path's self time. A path's number is above its caller's.
std::vector<Signed> taken_by_node(const CallTree& tree, const FunctionTable& functions,
                                  const HelloInfo& hello, const CodeFacts& code) {
    const std::vector<CallTree::Node>& nodes = tree.nodes();
    const CallCosts costs(hello);
    const auto cost = [&](Signed instructions) {
        return Signed{costs.graph_sum} * instructions / costs.paths.graph;
    };
    const Handed handed = handed_of(hello);
    const Signed tail = costs.tail;
    const auto calls_by_tail = [&](std::size_t i) -> Signed {  // in 1/Handed::one
        const CallTree::Node& node = nodes[i];
        const CallTree::Chain chain = tree.chain(static_cast<std::uint32_t>(i));
        if (!code.tail || tail == 0 || !nodes[node.parent].is_path()) return 0;
        switch (code.tail(nodes[node.parent].function, node.function)) {
        case Tail::never: break;
        case Tail::maybe:
            return std::clamp<Signed>(Signed{node.handed} * handed.weight +
                                          (Signed{chain.ended} - chain.begun) * Handed::one,
                                      0, Signed{node.calls} * Handed::one);
        case Tail::always:
            return (Signed{node.calls} - node.points - node.whole - chain.begun) * Handed::one;
        }
        return 0;
    };
    std::vector<Signed> taken(nodes.size());
    for (std::size_t i = nodes.size(); i-- > CallTree::first_path;) {
        const CallTree::Node& node = nodes[i];
        if (!node.is_path()) continue;
        const CallTree::Chain chain = tree.chain(static_cast<std::uint32_t>(i));
        const Signed whole = node.whole;
        // The target does not measure an interrupt's begin and end.
        const bool interrupt = is_interrupt(functions.offset(node.function));
        const Signed calls = interrupt ? 0 : Signed{node.calls} - node.points - whole;
        const Signed pad = code.local[node.function] ? hello.landing_pad : 0;
        const Signed no_hook = interrupt ? 0 : Signed{node.unwound};
        const Signed inside = calls * (costs.graph.inside + pad) +
                              whole * (costs.duration.inside + pad) - no_hook * costs.hook_inside +
                              cost(node.beside) + Signed{chain.ticks} * protocol::overhead_unit;
        // Where a jump begins or ends a call, chain.ticks or the tracer's time has what it costs.
        const Signed outside = (calls - Signed{chain.begun}) * (costs.graph.outside - pad) +
                               (Signed{chain.begun} - Signed{chain.ended}) * costs.hook_outside +
                               whole * (costs.duration.outside - pad) +
                               Signed{node.points} * (costs.function.outside - pad) +
                               calls_by_tail(i) * tail / Handed::one - no_hook * costs.hook_outside;
        taken[i] += inside;
        taken[node.parent] += outside;
    }
    return taken;
}

}  // namespace

Sums correct(const Profile& profile, const TimesByGroup& times, const CodeFacts& code) {
    if (!profile.hello()) return sum_up(profile, times, {});
    return sum_up(profile, times,
                  taken_by_node(profile.tree(), profile.functions(), *profile.hello(), code));
}

// Subtracts `each` per call from a profiled function's self and total, as from its single calls. So
// the mean stays between min and max.
CorrectedProfile correct(const ProfiledTimes& times, const HelloInfo& hello, bool local) {
    const std::int64_t each =
        CallCosts(hello).profile.inside + (local ? hello.landing_pad : std::int64_t{0});
    const Signed inside = Signed{times.calls} * each;
    const auto less = [&](Signed ticks) { return ticks * protocol::overhead_unit - inside; };
    const auto ns = [&](Signed fixed) {
        return fixed > 0 ? fixed_to_ns(static_cast<FixedTicks>(fixed), hello.clock_hz) : 0;
    };
    const Signed self = less(std::max<std::int64_t>(times.self_ticks, 0));
    return {{ns(less(times.total_ticks)), ns(self)}, ns(-self), each};
}

}  // namespace nopscope::host
