// SPDX-License-Identifier: Apache-2.0
#include "host-tools/profile/correction.hpp"

#include <algorithm>

#include "host-tools/profile/paths.hpp"

namespace nopscope {
namespace {

__extension__ using Signed = __int128;  // 1/256 ticks

// What recording took, of a path's total and self.
struct Taken {
    Signed total = 0;
    Signed self = 0;
};

FixedTicks less(std::uint64_t ticks, Signed taken) {
    const Signed rest = Signed{ticks} * wire::overhead_unit - taken;
    return rest > 0 ? static_cast<FixedTicks>(rest) : 0;
}

const wire::Overhead& overhead(const HelloInfo& hello, wire::RecorderNumber recorder) {
    return hello.overheads[static_cast<std::size_t>(recorder)];
}

// A path's number is above its caller's.
std::vector<Taken> taken_by_node(const std::vector<CallTree::Node>& nodes, const FunctionTable& functions,
                                 const HelloInfo& hello, const CodeFacts& code) {
    const wire::Overhead& graph = overhead(hello, wire::RecorderNumber::graph);
    const wire::Overhead& function = overhead(hello, wire::RecorderNumber::function);
    const wire::Overhead& duration = overhead(hello, wire::RecorderNumber::duration);
    const auto cost = [&](Signed instructions) { return graph_overhead(hello) * instructions / graph_instructions; };
    const Handed handed = handed_of(hello);
    const Signed tail = cost(tail_instructions), hook = cost(hook_instructions);
    const auto calls_by_tail = [&](std::size_t i) -> Signed {  // in 1/Handed::one
        const CallTree::Node& node = nodes[i];
        if (!code.tail || tail == 0 || node.parent <= CallTree::overflow) return 0;
        switch (code.tail(nodes[node.parent].function, node.function)) {
        case Tail::never: break;
        case Tail::maybe: return std::min(Signed{node.handed} * handed.weight, Signed{node.calls} * Handed::one);
        case Tail::always: return Signed{node.calls - node.points - node.whole} * Handed::one;
        }
        return 0;
    };
    std::vector<Taken> taken(nodes.size());
    for (std::size_t i = nodes.size(); i-- > CallTree::overflow + 1;) {
        const CallTree::Node& node = nodes[i];
        const Signed whole = node.whole;
        // An interrupt's begin and end are not measured.
        const bool interrupt = is_interrupt(functions.offset(node.function));
        const Signed calls = interrupt ? 0 : Signed{node.calls} - node.points - whole;
        const Signed pad = code.local[node.function] ? hello.landing_pad : 0;
        const Signed no_hook = interrupt ? 0 : node.unwound * hook;
        const Signed inside = calls * (graph.inside + pad) + whole * (duration.inside + pad) - no_hook + cost(node.beside);
        const Signed outside = calls * (graph.outside - pad) + whole * (duration.outside - pad) +
                               Signed{node.points} * (function.outside - pad) + calls_by_tail(i) * tail / Handed::one - no_hook;
        taken[i].self += inside;
        taken[i].total += inside;
        taken[node.parent].self += outside;
        taken[node.parent].total += outside + taken[i].total;
    }
    return taken;
}

}  // namespace

Correction correct(const Profile& profile, const std::vector<FunctionTimes>& times,
                   const CodeFacts& code) {
    const auto& nodes = profile.tree().nodes();
    Correction result;
    result.nodes.resize(nodes.size());
    result.functions.resize(times.size());
    if (!profile.hello()) return result;
    const std::vector<Taken> taken = taken_by_node(nodes, profile.functions(), *profile.hello(), code);
    std::vector<Taken> of_function(times.size());
    for_each_path(nodes, times.size(), [&](std::uint32_t node, bool outermost) {
        Taken& of = of_function[nodes[node].function];
        of.self += taken[node].self;
        if (outermost) of.total += taken[node].total;
    });
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        result.nodes[i] = {less(nodes[i].total_ticks, taken[i].total),
                           less(nodes[i].self_ticks, taken[i].self)};
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        CorrectedTimes& of = result.functions[i];
        of = {less(times[i].total_ticks, of_function[i].total),
              less(times[i].self_ticks, of_function[i].self)};
        const FixedTicks raw = FixedTicks{times[i].self_ticks} * wire::overhead_unit;
        if (raw > of.self) result.subtracted += raw - of.self;
    }
    return result;
}

CorrectedTimes correct(const ProfiledTimes& times, const HelloInfo& hello, bool local) {
    const Signed inside =
        Signed{times.calls} * (Signed{overhead(hello, wire::RecorderNumber::profile).inside} +
                               (local ? hello.landing_pad : 0));
    const std::int64_t self = std::max<std::int64_t>(times.self_ticks, 0);
    return {less(times.total_ticks, inside), less(static_cast<std::uint64_t>(self), inside)};
}

}  // namespace nopscope
