// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/path_groups.hpp"

namespace nopscope::host {

std::uint16_t PathGroups::find(CallTree& tree, std::uint64_t session, unsigned core,
                               std::uint32_t context) {
    if (by_ == SplitBy::nothing) return 0;
    std::string name =
        by_ == SplitBy::core ? std::to_string(core) : tasks_.label(session, core, context);
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    if (names_.size() == CallTree::max_groups) return CallTree::max_groups - 1;
    if (names_.size() == CallTree::max_groups - 1) name = others_name;
    const std::uint16_t number = tree.add_group();
    names_.push_back(name);
    return numbers_[std::move(name)] = number;
}

}  // namespace nopscope::host
