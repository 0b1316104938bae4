// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/call_tree.hpp"

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

void CallTree::set_kinds(std::uint16_t group) {
    const Group& of = groups_[group];
    nodes_[of.root].kind = Kind::root;
    nodes_[of.after_gap].kind = Kind::after_gap;
    nodes_[of.overflow].kind = Kind::overflow;
    for (const std::uint32_t node : {of.root, of.after_gap, of.overflow})
        nodes_[node].group = group;
}

std::uint16_t CallTree::add_group() {
    const auto number = static_cast<std::uint16_t>(groups_.size());
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.parent = root});
    nodes_.push_back({.parent = first});
    nodes_.push_back({.parent = first});
    groups_.push_back({.root = first, .after_gap = first + 1, .overflow = first + 2});
    set_kinds(number);
    return number;
}

// The bucket that holds this path, or the free one where it belongs.
std::size_t CallTree::bucket(std::uint32_t parent, std::uint32_t function) const {
    const std::uint64_t key = (std::uint64_t{parent} << 32 | function) * 0x9e3779b97f4a7c15u;
    const std::size_t mask = buckets_.size() - 1;
    for (std::size_t at = (key >> 32) & mask;; at = (at + 1) & mask) {
        const std::uint32_t node = buckets_[at];
        if (node == 0) return at;
        if (nodes_[node].parent == parent && nodes_[node].function == function) return at;
    }
}

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t function, MemoryBudget& budget) {
    std::size_t at = bucket(parent, function);
    if (buckets_[at] == 0) {
        if (!budget.take(price::path)) return group_of(parent).overflow;
        if (nodes_.size() * 2 >= buckets_.size()) {
            grow();
            at = bucket(parent, function);
        }
        // Grows by a quarter only, because memory has the old and the new nodes while it grows.
        if (nodes_.size() == nodes_.capacity())
            nodes_.reserve(nodes_.size() + nodes_.size() / 4 + 64);
        buckets_[at] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({.parent = parent, .function = function, .group = nodes_[parent].group});
    }
    return buckets_[at];
}

void CallTree::grow() {
    buckets_.assign(buckets_.size() * 2, 0);
    for (std::uint32_t node = first_path; node < nodes_.size(); ++node) {
        if (!nodes_[node].is_path()) continue;
        buckets_[bucket(nodes_[node].parent, nodes_[node].function)] = node;
    }
}

}  // namespace nopscope::host
