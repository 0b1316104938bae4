// SPDX-License-Identifier: Apache-2.0
// Callgrind's profile format (its manual, "Callgrind Format Specification"): each function's own
// cost and its calls, in nanoseconds and samples, at the function's line. A function without a
// known caller gets "(root)": readers add up its calls and inclusive cost from its callers.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

struct Cost {
    std::uint64_t ns = 0;
    std::uint64_t samples = 0;
    void add(const Cost& other) {
        ns += other.ns;
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

// The costs of the tree's functions, and last those of the root.
std::vector<Costs> costs_by_function(const PathTree& tree) {
    std::vector<Cost> inclusive(tree.nodes.size());
    for (std::size_t i = tree.nodes.size(); i-- > 1;) {
        const TreeNode& node = tree.nodes[i];
        inclusive[i].add({node.total_ns, node.samples});
        inclusive[node.parent].samples += inclusive[i].samples;
    }
    const std::size_t root = tree.functions.size();
    std::vector<Costs> costs(root + 1);
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        costs[node.function].self.add({node.self_ns, node.samples});
        const std::size_t caller = node.parent == 0 ? root : tree.nodes[node.parent].function;
        Calls& calls = costs[caller].callees[node.function];
        calls.count += node.calls;
        calls.inclusive.add(inclusive[i]);
    }
    return costs;
}

// Writes a name once, and "(number)" after that.
class Names {
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
    const auto text = [&](const Cost& cost) {
        return tree.has_samples ? fmt::format("{} {}", cost.ns, cost.samples)
                                : std::to_string(cost.ns);
    };
    Cost all;
    for (const Costs& one : costs) all.add(one.self);
    FileWriter file(output);
    file.write(
        fmt::format("# callgrind format\nversion: 1\ncreator: nopscope\ncmd: {}\npositions: line\n"
                    "event: ns : Nanoseconds\nevents: ns{}\nsummary: {}\n",
                    for_cell(from.report.image), tree.has_samples ? " samples" : "", text(all)));
    const FunctionPlace root{.name = "(root)", .file = {}};
    Names files;
    Names functions;
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
