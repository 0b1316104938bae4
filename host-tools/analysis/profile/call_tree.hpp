// SPDX-License-Identifier: Apache-2.0
// Call paths: one node for each distinct chain of callers, all cores together.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/base/memory.hpp"
#include "host-tools/image/tail_calls.hpp"

namespace nopscope::host {

class CallTree {
public:
    static constexpr std::uint32_t root = 0;
    static constexpr std::uint32_t after_gap = 1;  // callers unknown: a gap lies in between
    static constexpr std::uint32_t overflow = 2;   // paths that the budget refused: "(others)"

    struct Node {
        std::uint32_t parent = 0;
        std::uint32_t function = 0;
        // Overhead of each of its calls: call_costs.hpp.
        std::int64_t inside = 0;
        std::int64_t outside = 0;
        Tail tail = Tail::never;
        bool no_landing_pad = false;
        std::uint64_t calls = 0;
        std::uint64_t points = 0;  // of `calls`: without a time, from `call` records
        std::uint64_t whole = 0;   // of `calls`: from duration records
        std::uint64_t handed = 0;  // of `calls`: one RET seems to have ended them and their callers
        std::uint64_t unwound = 0;  // of `calls`: left without returning
        std::uint64_t beside = 0;   // instructions of the tracer in the calls' self time
        std::uint64_t total_ticks = 0;
        std::uint64_t self_ticks = 0;
    };

    CallTree() : nodes_(3), buckets_(1024, 0) {}

    std::uint32_t child(std::uint32_t parent, std::uint32_t function, MemoryBudget& budget);
    Node& operator[](std::uint32_t node) { return nodes_[node]; }
    const std::vector<Node>& nodes() const { return nodes_; }

private:
    std::size_t bucket(std::uint32_t parent, std::uint32_t function) const;
    void grow();

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> buckets_;  // open addressing; 0 is free
};

}  // namespace nopscope::host
