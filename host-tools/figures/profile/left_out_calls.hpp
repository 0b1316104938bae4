// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host-tools/calls/call_stack.hpp"

namespace nopscope::host {

// What the calls that Profile::leave_out_shorter() leaves out add to the open calls of one context:
// the recorder's instructions, in their callers' own time. A caller is known by its stack depth and
// its entry's record. What is added to a call that itself is left out goes to its caller.
class LeftOutCalls {
public:
    void add(std::size_t depth, std::uint64_t index, std::uint64_t instructions) {
        if (depth >= open_.size()) open_.resize(depth + 1);
        Open& open = open_[depth];
        if (open.index != index) open = {.index = index, .instructions = 0};
        open.instructions += instructions;
    }
    // Forgets what it returns.
    std::uint64_t take(std::size_t depth, std::uint64_t index) {
        if (depth >= open_.size() || open_[depth].index != index) return 0;
        return std::exchange(open_[depth].instructions, 0);
    }

    // The context has moved to another core with these open calls.
    void move(const CallStack& calls) {
        keep_open(open_, calls);
        last = none;
    }

    std::uint64_t last = none;  // index of the last call that was left out

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    struct Open {
        std::uint64_t index = none;
        std::uint64_t instructions = 0;
    };
    std::vector<Open> open_;  // by depth
};

}  // namespace nopscope::host
