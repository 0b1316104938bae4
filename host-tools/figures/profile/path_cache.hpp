// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "host-tools/calls/call.hpp"
#include "host-tools/calls/function_table.hpp"
#include "host-tools/figures/profile/call_costs.hpp"
#include "host-tools/figures/profile/call_tree.hpp"

namespace nopscope::host {

// (caller's node, site offset) -> function and node, in one look-up for recent paths. Neither ever
// changes, so no slot becomes invalid until the tables begin anew: then call forget().
class PathCache {
public:
    PathCache(FunctionTable& functions, CallTree& tree, const CallCosts& costs,
              const CodeOfCalls& code, MemoryBudget& budget)
        : functions_(functions),
          tree_(tree),
          costs_(costs),
          code_(code),
          budget_(budget),
          slots_(std::size_t{1} << slot_bits) {}

    [[gnu::always_inline]] Path find(std::uint32_t parent, std::uint32_t offset) {
        const std::uint64_t key = std::uint64_t{parent} << 32 | offset;
        Slot& slot = slots_[key * 0x9e3779b97f4a7c15u >> (64 - slot_bits)];
        if (slot.key != key) [[unlikely]]
            fill(slot, key);
        return slot.path;
    }

    void forget() { std::fill(slots_.begin(), slots_.end(), Slot{}); }

private:
    static constexpr unsigned slot_bits = 14;
    struct Slot {
        std::uint64_t key = 2;  // no path has it: an offset is a multiple of 8, or that plus 1
        Path path;
    };
    [[gnu::noinline, gnu::cold]] void fill(Slot& slot, std::uint64_t key) {
        const std::uint32_t function =
            functions_.number_of_any(static_cast<std::uint32_t>(key), budget_);
        const std::size_t known = tree_.nodes().size();
        const std::uint32_t node =
            tree_.child(static_cast<std::uint32_t>(key >> 32), function, budget_);
        if (node >= known) costs_.set(tree_, functions_, node, code_);
        slot = {key, {function, node}};
    }

    FunctionTable& functions_;
    CallTree& tree_;
    const CallCosts& costs_;
    const CodeOfCalls& code_;
    MemoryBudget& budget_;
    std::vector<Slot> slots_;
};

}  // namespace nopscope::host
