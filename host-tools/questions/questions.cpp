// SPDX-License-Identifier: Apache-2.0
#include "host-tools/questions/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host-tools/base/error.hpp"
#include "host-tools/base/nearest.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/control/choice.hpp"

namespace nopscope {
namespace {

std::vector<Neighbour> sorted(const std::map<std::uint32_t, Neighbour>& of) {
    std::vector<Neighbour> list;
    list.reserve(of.size());
    for (const auto& [function, neighbour] : of) list.push_back(neighbour);
    std::stable_sort(list.begin(), list.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.calls > b.calls;
    });
    return list;
}

// Adds the node's calls to the neighbour's.
void add(std::map<std::uint32_t, Neighbour>& to, std::uint32_t neighbour, const Report& report,
         const Profile& profile, std::uint32_t number) {
    const CallTree::Node& node = profile.tree().nodes()[number];
    Neighbour& one = to[neighbour];
    one.function = neighbour;
    one.calls += node.calls;
    one.total_ns += report.of_node(number).total_ns;
}

}  // namespace

std::vector<std::uint32_t> functions_named(const Report& report, const std::string& glob) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = FunctionTable::none + 1; number < report.by_number.size(); ++number) {
        const FunctionRow& row = report.by_number[number];
        if (row.calls != 0 && names_function(glob, Function{.name = row.name, .file = {}})) found.push_back(number);
    }
    if (!found.empty()) return found;
    std::vector<std::string> names;
    names.reserve(report.functions.size());
    for (const FunctionRow& row : report.functions) names.push_back(row.name);
    throw Error(fmt::format("no function that was called is named {}{}", for_cell(glob), did_you_mean(glob, names)), Exit::usage);
}

std::vector<Neighbour> callers_of(const Report& report, const Profile& profile, std::uint32_t function) {
    std::map<std::uint32_t, Neighbour> callers;
    const auto& nodes = profile.tree().nodes();
    for (std::uint32_t at = CallTree::overflow + 1; at < nodes.size(); ++at) {
        if (nodes[at].function != function) continue;
        const std::uint32_t parent = nodes[at].parent;
        add(callers,
            parent == CallTree::root        ? Neighbour::outermost
            : parent == CallTree::after_gap ? Neighbour::unknown
                                            : nodes[parent].function,
            report, profile, at);
    }
    return sorted(callers);
}

std::vector<Neighbour> callees_of(const Report& report, const Profile& profile, std::uint32_t function) {
    std::map<std::uint32_t, Neighbour> callees;
    const auto& nodes = profile.tree().nodes();
    for (std::uint32_t at = CallTree::overflow + 1; at < nodes.size(); ++at) {
        const std::uint32_t parent = nodes[at].parent;
        if (parent > CallTree::overflow && nodes[parent].function == function) {
            add(callees, nodes[at].function, report, profile, at);
        }
    }
    return sorted(callees);
}

std::string neighbour_name(const Report& report, const Neighbour& of) {
    if (of.function == Neighbour::outermost) return "(nothing that was recorded)";
    if (of.function == Neighbour::unknown) return "(callers lost in a gap)";
    return report.by_number[of.function].name;
}

std::uint64_t Latency::per_mille_ns(unsigned part) const {
    std::uint64_t below = 0;
    for (std::size_t n = 0; n < bins.size(); ++n) {
        below += bins[n].calls;
        if (below * 1000 >= timed * part) return n + 1 < bins.size() ? std::min(bins[n + 1].from_ns, max_ns) : max_ns;
    }
    return max_ns;
}

Latency latency_of(const Report& report, const Profile& profile, std::uint32_t function) {
    Latency latency;
    const CallTimes call = call_of(report.by_number[function], report.raw).value_or(CallTimes{});
    latency.min_ns = call.min_ns;
    latency.mean_ns = call.mean_ns;
    latency.max_ns = call.max_ns;
    if (function >= profile.durations().size()) return latency;
    const DurationsOf& of = profile.durations()[function];
    const auto& calls = (report.raw ? of.raw : of.corrected).calls;
    const std::int64_t pad = !report.raw && report.no_landing_pad[function] ? report.landing_pad : 0;
    unsigned last = DurationBins::count;
    while (last > 0 && calls[last - 1] == 0) --last;
    unsigned bin = 0;
    while (bin < last && calls[bin] == 0) ++bin;
    for (; bin < last; ++bin) {
        const SignedFixedTicks from = SignedFixedTicks{DurationBins::first_of(bin)} - pad;
        const std::uint64_t ns = from > 0 ? fixed_to_ns(static_cast<FixedTicks>(from), report.clock_hz) : 0;
        // Several bins may lie within a nanosecond.
        if (latency.bins.empty() || latency.bins.back().from_ns != ns) latency.bins.push_back({ns, 0});
        latency.bins.back().calls += calls[bin];
        latency.timed += calls[bin];
    }
    return latency;
}

StackDepth deepest(const Profile& profile) {
    const auto& nodes = profile.tree().nodes();
    constexpr std::uint32_t not_known = ~0u;
    std::vector<std::uint32_t> depths(nodes.size());
    depths[CallTree::after_gap] = depths[CallTree::overflow] = not_known;
    StackDepth result{.path = {}, .calls = 0, .unknown = nodes[CallTree::overflow].calls};
    std::uint32_t most = 0;
    std::uint32_t at_most = 0;
    for (std::uint32_t at = CallTree::overflow + 1; at < nodes.size(); ++at) {
        const std::uint32_t parent = depths[nodes[at].parent];
        depths[at] = parent == not_known ? not_known : parent + 1;
        if (parent == not_known) {
            result.unknown += nodes[at].calls;
        } else if (depths[at] > most) {
            most = depths[at];
            at_most = at;
            result.calls = nodes[at].calls;
        } else if (depths[at] == most) {
            result.calls += nodes[at].calls;
        }
    }
    for (std::uint32_t at = at_most; at != CallTree::root; at = nodes[at].parent) {
        result.path.push_back(nodes[at].function);
    }
    std::reverse(result.path.begin(), result.path.end());
    return result;
}

}  // namespace nopscope
