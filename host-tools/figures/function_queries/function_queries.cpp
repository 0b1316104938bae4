// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/function_queries/function_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

// choose(path, its parent) returns between which functions the path's calls are: the one that is
// asked for, and its neighbour. Nothing: they do not count.
template <typename Choose>
Neighbours neighbours(const Report& report, const Profile& profile, Choose choose) {
    const auto& nodes = profile.tree().nodes();
    std::map<std::pair<std::uint32_t, std::uint32_t>, Neighbour> all;
    for (std::uint32_t at = CallTree::first_path; at < nodes.size(); ++at) {
        if (!nodes[at].is_path()) continue;
        const auto between = choose(nodes[at], nodes[nodes[at].parent]);
        if (!between) continue;
        Neighbour& one = all[*between];
        one.calls += nodes[at].calls;
        one.total_ns += report.of_node(at).total_ns;
    }
    Neighbours result(report.by_number.size());
    for (auto& [between, one] : all) {
        one.function = between.second;
        result[between.first].push_back(one);
    }
    for (std::vector<Neighbour>& list : result) {
        std::stable_sort(list.begin(), list.end(), [](const Neighbour& a, const Neighbour& b) {
            return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.calls > b.calls;
        });
    }
    return result;
}

// From the first bin to the last that is not empty; `from_ns(bin)`: where it begins.
template <typename Calls, typename FromNs>
std::vector<Latency::Bin> filled_bins(const Calls& calls, FromNs from_ns) {
    std::vector<Latency::Bin> bins;
    auto last = static_cast<unsigned>(calls.size());
    while (last > 0 && calls[last - 1] == 0) --last;
    for (unsigned bin = 0; bin < last; ++bin) {
        if (bins.empty() && calls[bin] == 0) continue;
        // Several bins may round to the same nanosecond.
        const std::uint64_t ns = from_ns(bin);
        if (bins.empty() || bins.back().from_ns != ns) bins.push_back({ns, 0});
        bins.back().calls += calls[bin];
    }
    return bins;
}

}  // namespace

Result<std::vector<std::uint32_t>> functions_named(const Report& report, const std::string& glob) {
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
    return failure(fmt::format("no function that was called is named {}{}", for_cell(glob),
                               did_you_mean(glob, names)),
                   Exit::usage);
}

Neighbours callers_by_function(const Report& report, const Profile& profile) {
    return neighbours(
        report, profile, [](const CallTree::Node& node, const CallTree::Node& parent) {
            const bool is_first = parent.kind == CallTree::Kind::root;
            const bool is_lost = parent.kind == CallTree::Kind::after_gap;
            return std::optional(std::pair(node.function, is_first  ? Neighbour::outermost
                                                          : is_lost ? Neighbour::unknown
                                                                    : parent.function));
        });
}

Neighbours callees_by_function(const Report& report, const Profile& profile) {
    return neighbours(
        report, profile, [](const CallTree::Node& node, const CallTree::Node& parent) {
            return parent.is_path() ? std::optional(std::pair(parent.function, node.function))
                                    : std::nullopt;
        });
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
    latency.bins = filled_bins(calls, [&](unsigned bin) {
        return positive_ns(SignedFixedTicks{DurationBins::first_of(bin)} - pad, report.clock_hz);
    });
    for (const Latency::Bin& bin : latency.bins) latency.timed += bin.calls;
    return latency;
}

std::vector<Latency::Bin> bins_of(const ProfileRow& row, bool raw, std::uint64_t clock_hz) {
    return filled_bins(row.bins, [&](unsigned bin) {
        const SignedFixedTicks from = bin == 0 ? 0 : SignedFixedTicks{1} << (bin - 1);
        return positive_ns(from * protocol::overhead_unit - (raw ? 0 : row.taken), clock_hz);
    });
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
