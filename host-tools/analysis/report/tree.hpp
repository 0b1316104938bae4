// SPDX-License-Identifier: Apache-2.0
// Sums by call path with names, as `report` and `graph` show them: what formats without single calls take.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

// What there is to sum up: `report` and `profile` are of the whole recording.
struct Aggregated {
    const Report& report;
    const Profile& profile;
    bool raw = false;  // times as recorded, with what recording took in them
};

struct TreeNode {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;  // PathTree::functions
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t samples = 0;  // that were taken just there
};

struct PathTree {
    std::vector<FunctionPlace> functions;
    std::vector<TreeNode> nodes;  // parents first; 0 is no function's
    bool has_times = false;
    bool has_samples = false;
};

// The trace's paths; the functions of the target's profile, whose callers nobody knows, below one node of
// their own; and the samples' paths, which are added to the same tree.
PathTree path_tree(const Aggregated& from);

// What such formats have no place for: marks, counters, captured values, gaps. As EventSink::left_out().
std::string left_out_of_sums(const Report& report);

}  // namespace nopscope::host
