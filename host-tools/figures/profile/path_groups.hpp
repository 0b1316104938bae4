// SPDX-License-Identifier: Apache-2.0
// Which group of the call tree has the paths of a context, in a profile that is split by task or
// by core. Tasks of one name are one group, in all sessions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/calls/tasks.hpp"
#include "host-tools/figures/profile/call_tree.hpp"

namespace nopscope::host {

enum class SplitBy : std::uint8_t { nothing, task, core };

class PathGroups {
public:
    static constexpr char others_name[] = "(other tasks)";  // beyond CallTree::max_groups

    PathGroups() = default;
    PathGroups(SplitBy by, Tasks tasks) : by_(by), tasks_(std::move(tasks)) {}

    SplitBy by() const { return by_; }
    // Adds the group to the tree if it is new.
    std::uint16_t find(CallTree& tree, std::uint64_t session, unsigned core, std::uint32_t context);
    // By group; outside text. Group 0 has no name, and no paths if the profile is split.
    const std::vector<std::string>& names() const { return names_; }

private:
    SplitBy by_ = SplitBy::nothing;
    Tasks tasks_;
    std::map<std::string, std::uint16_t> numbers_;
    std::vector<std::string> names_{std::string()};
};

}  // namespace nopscope::host
