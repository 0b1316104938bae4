// SPDX-License-Identifier: Apache-2.0
// The target's samples as a tree of addresses, from the outermost caller to the sampled PC.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "host-tools/figures/profile/captured.hpp"

namespace nopscope::host {

class Samples {
public:
    static constexpr std::uint32_t root = 0;

    struct Node {
        std::uint32_t parent = root;
        std::int64_t offset = 0;    // bytes from text_base
        bool is_link = false;       // it was in the link register, and may be stale
        bool is_return = false;     // a call returns to it
        std::uint64_t samples = 0;  // samples that end here
    };

    // If the budget refuses an address, the sample ends at the last known one.
    // `unit_bytes`: of its addresses.
    void add(const WithData& record, unsigned unit_bytes, MemoryBudget& budget);

    std::uint64_t count() const { return count_; }
    std::uint64_t cut() const { return cut_; }  // samples of which the target left callers out
    const std::vector<Node>& nodes() const { return nodes_; }  // parents first; root has no address

private:
    std::uint32_t child(std::uint32_t parent, std::int64_t offset, bool is_link, bool is_return,
                        MemoryBudget& budget);

    struct Key {
        std::uint32_t parent;
        std::uint32_t flags;
        std::int64_t offset;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    std::vector<Node> nodes_ = std::vector<Node>(1);
    std::unordered_map<Key, std::uint32_t, Hash> children_;
    std::uint64_t count_ = 0;
    std::uint64_t cut_ = 0;
};

}  // namespace nopscope::host
