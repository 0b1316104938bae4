// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/tree.hpp"

#include <map>
#include <unordered_map>
#include <utility>

#include "host-tools/figures/report/kept_functions.hpp"

namespace nopscope::host {
namespace {

class Builder {
public:
    Builder() { tree_.nodes.resize(1); }

    std::uint32_t function(const FunctionPlace& place) {
        // A place that stands for no function has a name but no address.
        const auto key = std::pair(place.address, place.address == 0 ? place.name : std::string());
        const auto [at, is_new] =
            numbers_.try_emplace(key, static_cast<std::uint32_t>(tree_.functions.size()));
        if (is_new) tree_.functions.push_back(place);
        return at->second;
    }
    std::uint32_t node(std::uint32_t parent, std::uint32_t function) {
        const auto next = static_cast<std::uint32_t>(tree_.nodes.size());
        const auto [at, is_new] =
            children_.try_emplace(std::uint64_t{parent} << 32 | function, next);
        if (is_new) tree_.nodes.push_back({.parent = parent, .function = function});
        return at->second;
    }
    PathTree& tree() { return tree_; }

private:
    PathTree tree_;
    std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> numbers_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

FunctionPlace of_no_function(std::string name) { return {.name = std::move(name), .file = {}}; }

void add_trace(Builder& to, const Aggregated& from) {
    const auto& nodes = from.profile.tree().nodes();
    const std::vector<Times>& times_of = from.raw ? from.report.raw_nodes : from.report.nodes;
    std::vector<std::uint32_t> number(nodes.size());
    std::vector<bool> has_children(nodes.size());
    for (const CallTree::Node& node : nodes) has_children[node.parent] = true;
    for (std::uint32_t i = CallTree::root + 1; i < nodes.size(); ++i) {
        const CallTree::Node& node = nodes[i];
        if (!node.is_path() && node.calls == 0 && !has_children[i]) continue;
        const FunctionPlace place = node.is_path()
                                        ? FunctionPlace(from.report.by_number[node.function])
                                        : of_no_function(name_of_node(from.report, node));
        number[i] = to.node(number[node.parent], to.function(place));
        TreeNode& into = to.tree().nodes[number[i]];
        into.calls += node.calls;
        const Times& times = times_of[i];
        into.self_ns += times.self_ns;
        into.total_ns += times.total_ns;
        to.tree().has_times = from.report.has_calls();
    }
}

void add_profile(Builder& to, const Aggregated& from) {
    if (!takes_profile(from.report)) return;
    const std::uint32_t root = to.node(0, to.function(of_no_function("(of the target's profile)")));
    for (const ProfileRow& row : from.report.profile) {
        TreeNode& into = to.tree().nodes[to.node(root, to.function(row))];
        into.calls += row.calls;
        into.self_ns += row.shown(from.raw).self_ns;
        into.total_ns += row.shown(from.raw).total_ns;
        to.tree().nodes[root].total_ns += row.shown(from.raw).total_ns;
        to.tree().has_times = true;
    }
}

void add_samples(Builder& to, const Report& report) {
    const SampleReport& samples = report.samples;
    std::vector<std::uint32_t> number(samples.nodes.size());
    for (std::uint32_t i = 1; i < samples.nodes.size(); ++i) {
        const SampleNode& node = samples.nodes[i];
        number[i] = to.node(number[node.parent], to.function(samples.places[node.function]));
        to.tree().nodes[number[i]].samples += node.self;
        to.tree().has_samples = true;
    }
}

// The paths to the functions that the report keeps. What the others have goes with them.
PathTree kept_of(const Report& report, const PathTree& tree) {
    const auto wanted = [&](std::size_t at) {
        return keeps(report, tree.functions[tree.nodes[at].function]);
    };
    const std::vector<bool> leads = leads_to(tree.nodes, wanted);
    PathTree kept{.functions = tree.functions,
                  .nodes = {tree.nodes[0]},
                  .has_times = tree.has_times,
                  .has_samples = tree.has_samples};
    std::vector<std::uint32_t> number(tree.nodes.size());
    std::vector<bool> is_wanted{true};
    for (std::uint32_t at = 1; at < tree.nodes.size(); ++at) {
        if (!leads[at]) continue;
        number[at] = static_cast<std::uint32_t>(kept.nodes.size());
        is_wanted.push_back(wanted(at));
        TreeNode node = tree.nodes[at];
        if (!is_wanted.back()) node = {.parent = node.parent, .function = node.function};
        node.parent = number[node.parent];
        kept.nodes.push_back(node);
    }
    for (std::size_t at = kept.nodes.size(); at-- > 1;) {
        const TreeNode& node = kept.nodes[at];
        if (!is_wanted[node.parent]) kept.nodes[node.parent].total_ns += node.total_ns;
    }
    return kept;
}

}  // namespace

PathTree path_tree(const Aggregated& from) {
    Builder builder;
    add_trace(builder, from);
    add_profile(builder, from);
    add_samples(builder, from.report);
    return from.report.kept.empty() ? std::move(builder.tree())
                                    : kept_of(from.report, builder.tree());
}

bool takes_profile(const Report& report) {
    return !report.profile.empty() && (report.adaptive || !report.has_calls());
}

std::string name_of_node(const Report& report, const CallTree::Node& node) {
    switch (node.kind) {
    case CallTree::Kind::path: break;
    case CallTree::Kind::root:
        return (report.split == SplitBy::core ? "core " : "") + report.groups[node.group];
    case CallTree::Kind::after_gap: return "(callers lost in a gap)";
    case CallTree::Kind::overflow: return others_name;
    }
    return report.by_number[node.function].name;
}

}  // namespace nopscope::host
