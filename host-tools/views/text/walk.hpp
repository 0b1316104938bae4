// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace nopscope::host {

// By node: the nodes below it, in the order in which they are shown.
using Children = std::vector<std::vector<std::uint32_t>>;

// Calls visit(node, depth) for the nodes below node 0, depth first. If shows(node, depth) is false,
// the node and those below it are left out. It has no recursion, because a recording may have paths
// too deep for this process's stack.
template <typename Shows, typename Visit>
void walk(const Children& children, Shows shows, Visit visit) {
    std::vector<std::pair<std::uint32_t, unsigned>> pending;
    const auto push_children = [&](std::uint32_t node, unsigned depth) {
        const auto& list = children[node];
        for (auto child = list.rbegin(); child != list.rend(); ++child)
            if (shows(*child, depth)) pending.emplace_back(*child, depth);
    };
    push_children(0, 0);
    while (!pending.empty()) {
        const auto [node, depth] = pending.back();
        pending.pop_back();
        visit(node, depth);
        push_children(node, depth + 1);
    }
}

}  // namespace nopscope::host
