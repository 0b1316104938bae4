// SPDX-License-Identifier: Apache-2.0
// Visits the call tree from its top down.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host-tools/analysis/profile/call_tree.hpp"

namespace nopscope::host {

// visit(node, outermost), once for each path. `outermost`: no path above it has the same function.
template <typename Visit>
void for_each_path(const std::vector<CallTree::Node>& nodes, std::size_t functions, Visit visit) {
    std::vector<std::uint32_t> first(nodes.size()), next(nodes.size()), open(functions);
    for (std::size_t i = nodes.size(); i-- > CallTree::overflow + 1;) {
        const std::uint32_t parent = nodes[i].parent;
        next[i] = first[parent];
        first[parent] = static_cast<std::uint32_t>(i);
    }
    for (const std::uint32_t top : {CallTree::root, CallTree::after_gap, CallTree::overflow}) {
        for (std::uint32_t at = top;;) {
            if (first[at] != 0) {
                at = std::exchange(first[at], 0);
                visit(at, open[nodes[at].function]++ == 0);
                continue;
            }
            // Goes back up until a path has a next sibling.
            while (at != top && next[at] == 0) {
                --open[nodes[at].function];
                at = nodes[at].parent;
            }
            if (at == top) break;
            --open[nodes[at].function];
            at = next[at];
            visit(at, open[nodes[at].function]++ == 0);
        }
    }
}

}  // namespace nopscope::host
