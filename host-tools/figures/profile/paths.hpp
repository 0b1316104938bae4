// SPDX-License-Identifier: Apache-2.0
// Visits the call tree from its top down.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host-tools/figures/profile/call_tree.hpp"

namespace nopscope::host {

// visit(node, outermost), once for each path. `outermost`: no path above it, in its group, has the
// same function.
template <typename Visit>
void for_each_path(const std::vector<CallTree::Node>& nodes, std::size_t functions, Visit visit) {
    std::vector<std::uint32_t> first(nodes.size()), next(nodes.size()), open(functions);
    for (const bool are_paths : {false, true}) {  // so that paths come before gaps and groups
        for (std::size_t i = nodes.size(); i-- > CallTree::root + 1;) {
            if (nodes[i].is_path() != are_paths) continue;
            const std::uint32_t parent = nodes[i].parent;
            next[i] = first[parent];
            first[parent] = static_cast<std::uint32_t>(i);
        }
    }
    const auto enter = [&](std::uint32_t at) {
        if (nodes[at].is_path()) visit(at, open[nodes[at].function]++ == 0);
    };
    const auto leave = [&](std::uint32_t at) {
        if (nodes[at].is_path()) --open[nodes[at].function];
    };
    for (std::uint32_t at = CallTree::root;;) {
        if (first[at] != 0) {
            at = std::exchange(first[at], 0);
            enter(at);
            continue;
        }
        // Goes back up until a node has a next sibling.
        while (at != CallTree::root && next[at] == 0) {
            leave(at);
            at = nodes[at].parent;
        }
        if (at == CallTree::root) break;
        leave(at);
        at = next[at];
        enter(at);
    }
}

}  // namespace nopscope::host
