// SPDX-License-Identifier: Apache-2.0
// Sums by call path with names, as in `report` and `graph`, for formats without single calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

// The source of the sums: `report` and `profile` are of the whole recording.
struct Aggregated {
    const Report& report;
    const Profile& profile;
    bool raw = false;  // times as recorded, with the overhead
};

struct TreeNode {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;  // number in PathTree::functions
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t samples = 0;  // that end at this path
};

struct PathTree {
    std::vector<FunctionPlace> functions;
    std::vector<TreeNode> nodes;  // parents first; node 0 has no function
    bool has_times = false;
    bool has_samples = false;
};

// One tree with the trace's paths and the samples' paths. The functions of the target's profile are
// below one extra node, because their callers are unknown.
PathTree path_tree(const Aggregated& from);

// True if the tree has the target's profile. A profile beside a trace may have the trace's calls,
// too, except in adaptive mode.
bool takes_profile(const Report& report);

// A function's name, that of a task or a core ("core 1"), or what stands for unknown callers.
std::string name_of_node(const Report& report, const CallTree::Node& node);

}  // namespace nopscope::host
