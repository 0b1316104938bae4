// SPDX-License-Identifier: Apache-2.0
// Call paths: one node for each distinct chain of callers. All cores and tasks are together, or
// each has a group of paths (Profile::split_by()).
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "host-tools/image/tail_calls.hpp"

namespace nopscope::host {

class CallTree {
public:
    // Those of group 0. Each group has three: see Group.
    static constexpr std::uint32_t root = 0;
    static constexpr std::uint32_t after_gap = 1;
    static constexpr std::uint32_t overflow = 2;
    static constexpr std::uint32_t first_path = overflow + 1;
    struct Group {
        std::uint32_t root = CallTree::root;            // of the others: a child of group 0's root
        std::uint32_t after_gap = CallTree::after_gap;  // callers unknown: a gap lies in between
        std::uint32_t overflow = CallTree::overflow;    // paths that the budget refused: "(others)"
    };
    enum class Kind : std::uint8_t { path, root, after_gap, overflow };

    struct Node {
        std::uint32_t parent = 0;
        std::uint32_t function = 0;
        // Overhead of each of its calls: call_costs.hpp.
        std::int64_t inside = 0;
        std::int64_t outside = 0;
        Tail tail = Tail::never;
        bool no_landing_pad = false;
        Kind kind = Kind::path;
        std::uint16_t group = 0;
        std::uint64_t calls = 0;
        std::uint64_t points = 0;  // of `calls`: without a time, from `call` records
        std::uint64_t whole = 0;   // of `calls`: from duration records
        std::uint64_t handed = 0;  // of `calls`: one RET seems to have ended them and their callers
        std::uint64_t unwound = 0;  // of `calls`: left without returning
        std::uint64_t beside = 0;   // instructions of the tracer in the calls' self time
        std::uint64_t total_ticks = 0;
        std::uint64_t self_ticks = 0;

        bool is_path() const { return kind == Kind::path; }
    };

    // Of a path with chains of tail calls (tracer/recorders/tail_calls.hpp). Few have any: so it is
    // not in the node, which each call touches.
    struct Chain {
        std::uint64_t ended = 0;  // of its calls: by a jump, so they began by one, too
        std::uint64_t begun = 0;  // of its calls: by such a jump of the call before
        std::uint64_t ticks = 0;  // of its self time: until calls that a jump began
    };

    CallTree() : groups_(1), nodes_(3), buckets_(1024, 0) { set_kinds(0); }

    static constexpr std::size_t max_groups = 1024;
    // Returns the new group's number. There must be fewer than `max_groups`.
    std::uint16_t add_group();
    const std::vector<Group>& groups() const { return groups_; }
    const Group& group_of(std::uint32_t node) const { return groups_[nodes_[node].group]; }

    std::uint32_t child(std::uint32_t parent, std::uint32_t function, MemoryBudget& budget);
    Node& operator[](std::uint32_t node) { return nodes_[node]; }
    const std::vector<Node>& nodes() const { return nodes_; }
    Chain& chain(std::uint32_t node) {
        if (node >= chains_.size()) chains_.resize(nodes_.size());
        return chains_[node];
    }
    Chain chain(std::uint32_t node) const {
        return node < chains_.size() ? chains_[node] : Chain{};
    }

private:
    std::size_t bucket(std::uint32_t parent, std::uint32_t function) const;
    void grow();
    void set_kinds(std::uint16_t group);

    std::vector<Group> groups_;
    std::vector<Node> nodes_;
    std::vector<Chain> chains_;           // by node; it may be shorter
    std::vector<std::uint32_t> buckets_;  // open addressing; 0 is free
};

}  // namespace nopscope::host
