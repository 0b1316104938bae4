// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/samples.hpp"

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

std::size_t Samples::Hash::operator()(const Key& key) const {
    constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(key.offset) ^ key.flags ^ std::uint64_t{key.parent} << 40) *
        odd;
    return mixed ^ mixed >> 29;
}

std::uint32_t Samples::child(std::uint32_t parent, std::int64_t offset, bool is_link,
                             bool is_return, MemoryBudget& budget) {
    const Key key{parent, (is_link ? 1u : 0) | (is_return ? 2u : 0), offset};
    if (const auto known = children_.find(key); known != children_.end()) return known->second;
    if (!budget.take(price::sampled_address)) return parent;
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(
        {.parent = parent, .offset = offset, .is_link = is_link, .is_return = is_return});
    children_.emplace(key, number);
    return number;
}

void Samples::add(const WithData& record, unsigned unit_bytes, MemoryBudget& budget) {
    const std::uint32_t argument = record.head().argument;
    const auto addresses = record.data();
    std::uint32_t node = root;
    for (std::size_t i = addresses.size(); i-- != 0;) {
        node = child(node, protocol::sampled_offset(addresses[i], unit_bytes),
                     i == 1 && protocol::sample_has_link(argument), i != 0, budget);
    }
    ++nodes_[node].samples;
    ++count_;
    cut_ += protocol::sample_is_cut(argument);
}

}  // namespace nopscope::host
