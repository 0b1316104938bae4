// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/function_queries/function_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/nearest.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

// The calls of a node, as calls between function `of` and another function.
struct Calls {
    std::uint32_t of = 0;
    Neighbour with;
};

Neighbours by_function(std::vector<Calls> all, std::size_t functions) {
    std::sort(all.begin(), all.end(), [](const Calls& a, const Calls& b) {
        return a.of != b.of ? a.of < b.of : a.with.function < b.with.function;
    });
    Neighbours neighbours(functions);
    for (const Calls& one : all) {
        std::vector<Neighbour>& list = neighbours[one.of];
        if (list.empty() || list.back().function != one.with.function)
            list.push_back({.function = one.with.function});
        list.back().calls += one.with.calls;
        list.back().total_ns += one.with.total_ns;
    }
    for (std::vector<Neighbour>& list : neighbours) {
        std::stable_sort(list.begin(), list.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.calls > b.calls;
        });
    }
    return neighbours;
}

}  // namespace

std::vector<std::uint32_t> functions_named(const Report& report, const std::string& glob) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = FunctionTable::none + 1; number < report.by_number.size();
         ++number) {
        const FunctionRow& row = report.by_number[number];
        if (row.calls != 0 && names_function(glob, row)) found.push_back(number);
    }
    if (!found.empty()) return found;
    std::vector<std::string> names;
    names.reserve(report.functions.size());
    for (const FunctionRow& row : report.functions) add_names(names, row);
    throw Error(fmt::format("no function that was called is named {}{}", for_cell(glob),
                            did_you_mean(glob, names)),
                Exit::usage);
}

Neighbours callers_by_function(const Report& report, const Profile& profile) {
    const auto& nodes = profile.tree().nodes();
    std::vector<Calls> all;
    all.reserve(nodes.size());
    for (std::uint32_t at = CallTree::first_path; at < nodes.size(); ++at) {
        if (!nodes[at].is_path()) continue;
        const CallTree::Node& parent = nodes[nodes[at].parent];
        const std::uint32_t caller = parent.kind == CallTree::Kind::root ? Neighbour::outermost
                                     : parent.kind == CallTree::Kind::after_gap ? Neighbour::unknown
                                                                                : parent.function;
        all.push_back({nodes[at].function, {caller, nodes[at].calls, report.of_node(at).total_ns}});
    }
    return by_function(std::move(all), report.by_number.size());
}

Neighbours callees_by_function(const Report& report, const Profile& profile) {
    const auto& nodes = profile.tree().nodes();
    std::vector<Calls> all;
    all.reserve(nodes.size());
    for (std::uint32_t at = CallTree::first_path; at < nodes.size(); ++at) {
        const CallTree::Node& parent = nodes[nodes[at].parent];
        if (!nodes[at].is_path() || !parent.is_path()) continue;
        all.push_back(
            {parent.function, {nodes[at].function, nodes[at].calls, report.of_node(at).total_ns}});
    }
    return by_function(std::move(all), report.by_number.size());
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
        if (below * 1000 >= timed * part)
            return n + 1 < bins.size() ? std::min(bins[n + 1].from_ns, max_ns) : max_ns;
    }
    return max_ns;
}

Latency latency_of(const Report& report, const Profile& profile, std::uint32_t function) {
    Latency latency;
    static_cast<CallTimes&>(latency) =
        report.by_number[function].shown(report.raw).call.value_or(CallTimes{});
    if (function >= profile.durations().size()) return latency;
    const DurationsOf& of = profile.durations()[function];
    const auto& calls = (report.raw ? of.raw : of.corrected).calls;
    const std::int64_t pad =
        !report.raw && report.no_landing_pad[function] ? report.landing_pad : 0;
    unsigned last = DurationBins::count;
    while (last > 0 && calls[last - 1] == 0) --last;
    unsigned bin = 0;
    while (bin < last && calls[bin] == 0) ++bin;
    for (; bin < last; ++bin) {
        const SignedFixedTicks from = SignedFixedTicks{DurationBins::first_of(bin)} - pad;
        const std::uint64_t ns =
            from > 0 ? fixed_to_ns(static_cast<FixedTicks>(from), report.clock_hz) : 0;
        // Several bins may round to the same nanosecond.
        if (latency.bins.empty() || latency.bins.back().from_ns != ns)
            latency.bins.push_back({ns, 0});
        latency.bins.back().calls += calls[bin];
        latency.timed += calls[bin];
    }
    return latency;
}

StackDepth deepest(const Profile& profile) {
    const auto& nodes = profile.tree().nodes();
    constexpr std::uint32_t not_known = ~0u;
    std::vector<std::uint32_t> depths(nodes.size());
    StackDepth result;
    std::uint32_t most = 0;
    std::uint32_t at_most = 0;
    for (std::uint32_t at = 0; at < nodes.size(); ++at) {
        if (!nodes[at].is_path()) {
            depths[at] = nodes[at].kind == CallTree::Kind::root ? 0 : not_known;
            result.unknown += nodes[at].calls;
            continue;
        }
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
    for (std::uint32_t at = at_most; nodes[at].is_path(); at = nodes[at].parent) {
        result.path.push_back(nodes[at].function);
    }
    std::reverse(result.path.begin(), result.path.end());
    return result;
}

}  // namespace nopscope::host
