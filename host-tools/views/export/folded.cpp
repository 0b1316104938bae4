// SPDX-License-Identifier: Apache-2.0
// "main;f;g 123": a call path and the nanoseconds of its last function itself. A recording with
// only samples has their count instead. In a name, a `;` becomes `:`.
#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

// Deep paths can turn some kilobytes of recording into gigabytes of text.
template <typename WeightOf>
std::uint64_t text_bytes(const PathTree& tree, const std::vector<std::string>& names,
                         WeightOf weight_of) {
    std::vector<std::uint64_t> lengths(tree.nodes.size());  // of each path's text
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        lengths[i] =
            lengths[node.parent] + (node.parent == 0 ? 0 : 1) + names[node.function].size();
        const std::uint64_t weight = weight_of(node);
        if (weight != 0) bytes += lengths[i] + fmt::formatted_size(" {}\n", weight);
    }
    return bytes;
}

}  // namespace

std::string write_folded(const Output& output, const Aggregated& from) {
    const PathTree tree = path_tree(from);
    FileWriter file(output);
    std::vector<std::string> names;
    for (const FunctionPlace& place : tree.functions) {
        std::string name = for_cell(place.name);
        std::replace(name.begin(), name.end(), ';', ':');
        names.push_back(std::move(name));
    }
    const auto weight_of = [&](const TreeNode& node) {
        return tree.has_times ? node.self_ns : node.samples;
    };
    file.expect(text_bytes(tree, names, weight_of));
    std::vector<std::uint32_t> path;
    for (const TreeNode& node : tree.nodes) {
        const std::uint64_t weight = weight_of(node);
        if (weight == 0) continue;
        path.assign(1, node.function);
        for (std::uint32_t at = node.parent; at != 0; at = tree.nodes[at].parent) {
            path.push_back(tree.nodes[at].function);
        }
        for (auto function = path.rbegin(); function != path.rend(); ++function) {
            if (function != path.rbegin()) file.write(";");
            file.write(names[*function]);
        }
        file.write(" " + std::to_string(weight) + "\n");
    }
    file.close();
    std::string left_out = left_out_of_sums(from.report);
    if (tree.has_times && tree.has_samples)
        add_count(left_out, from.report.samples.count, "samples");
    return left_out;
}

}  // namespace nopscope::host
