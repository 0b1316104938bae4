// SPDX-License-Identifier: Apache-2.0
// Callgrind's profile format (its manual, "Callgrind Format Specification"): each function's own
// cost and its calls, in nanoseconds and samples, at the function's line. A function without a
// known caller gets "(root)": readers add up its calls and inclusive cost from its callers.
// Readers expect a call's inclusive cost to be its own and its callees'. Time in another context or
// in a gap is in a call's total and in no function's own time, so it is an event of its own,
// "away".
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

struct Cost {
    std::uint64_t ns = 0;
    std::uint64_t away_ns = 0;
    std::uint64_t samples = 0;
    void add(const Cost& other) {
        ns += other.ns;
        away_ns += other.away_ns;
        samples += other.samples;
    }
};
struct Calls {
    std::uint64_t count = 0;
    Cost inclusive;
};
struct Costs {
    Cost self;
    std::map<std::uint32_t, Calls> callees;  // by function
};

// The time in each node's total that is neither its own nor its callees'.
std::vector<std::uint64_t> away_times(const PathTree& tree) {
    std::vector<std::uint64_t> inside(tree.nodes.size());
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        inside[i] += tree.nodes[i].self_ns;
        inside[tree.nodes[i].parent] += tree.nodes[i].total_ns;
    }
    std::vector<std::uint64_t> away(tree.nodes.size());
    for (std::size_t i = 1; i < tree.nodes.size(); ++i)
        away[i] = tree.nodes[i].total_ns - std::min(inside[i], tree.nodes[i].total_ns);
    return away;
}

// The costs of the tree's functions, and last those of the root.
std::vector<Costs> costs_by_function(const PathTree& tree) {
    const std::vector<std::uint64_t> away = away_times(tree);
    const auto own = [&](std::size_t i) {
        return Cost{tree.nodes[i].self_ns, away[i], tree.nodes[i].samples};
    };
    std::vector<Cost> inclusive(tree.nodes.size());
    for (std::size_t i = tree.nodes.size(); i-- > 1;) {
        inclusive[i].add(own(i));
        inclusive[tree.nodes[i].parent].add(inclusive[i]);
    }
    const std::size_t root = tree.functions.size();
    std::vector<Costs> costs(root + 1);
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        costs[node.function].self.add(own(i));
        const std::size_t caller = node.parent == 0 ? root : tree.nodes[node.parent].function;
        Calls& calls = costs[caller].callees[node.function];
        calls.count += node.calls;
        calls.inclusive.add(inclusive[i]);
    }
    return costs;
}

// Writes a name once, and "(number)" after that.
class NumberedNames {
public:
    std::string operator()(const std::string& name) {
        const auto [at, is_new] = numbers_.try_emplace(name, numbers_.size() + 1);
        return is_new ? fmt::format("({}) {}", at->second, for_cell(name))
                      : fmt::format("({})", at->second);
    }

private:
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace

std::string write_callgrind(const Output& output, const Aggregated& from) {
    const PathTree tree = path_tree(from);
    const std::vector<Costs> costs = costs_by_function(tree);
    Cost all;
    for (const Costs& one : costs) all.add(one.self);
    const bool has_away = all.away_ns != 0;
    const auto text = [&](const Cost& cost) {
        return fmt::format("{}{}{}", cost.ns, has_away ? fmt::format(" {}", cost.away_ns) : "",
                           tree.has_samples ? fmt::format(" {}", cost.samples) : "");
    };
    FileWriter file(output);
    file.write(fmt::format("# callgrind format\nversion: 1\ncreator: nopscope\ncmd: {}\n",
                           for_cell(from.report.image)));
    if (!from.report.part.empty()) {
        file.write(fmt::format("desc: Part: of the recording, {}\n", for_cell(from.report.part)));
    }
    file.write("positions: line\nevent: ns : Nanoseconds\n");
    if (has_away) {
        file.write(
            "event: away : Nanoseconds in another context or in a gap\n"
            "event: total = ns + away : Nanoseconds from call to return\n");
    }
    file.write(fmt::format("events: ns{}{}\nsummary: {}\n", has_away ? " away" : "",
                           tree.has_samples ? " samples" : "", text(all)));
    const FunctionPlace root{.name = "(root)", .file = {}};
    NumberedNames files;
    NumberedNames functions;
    const auto file_of = [&](const FunctionPlace& place) {
        return files(place.file.empty() ? "???" : place.file);
    };
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const FunctionPlace& place = i < tree.functions.size() ? tree.functions[i] : root;
        file.write(fmt::format("\nfl={}\nfn={}\n{} {}\n", file_of(place), functions(place.name),
                               place.line, text(costs[i].self)));
        for (const auto& [callee, calls] : costs[i].callees) {
            const FunctionPlace& to = tree.functions[callee];
            // With no calls, readers would add the cost to the caller. Samples do not count calls.
            file.write(fmt::format("cfi={}\ncfn={}\ncalls={} {}\n{} {}\n", file_of(to),
                                   functions(to.name), std::max<std::uint64_t>(calls.count, 1),
                                   to.line, place.line, text(calls.inclusive)));
        }
    }
    file.write(fmt::format("\ntotals: {}\n", text(all)));
    file.close();
    return left_out_of_sums(from.report);
}

}  // namespace nopscope::host
