// SPDX-License-Identifier: Apache-2.0
// A person's request, in words, to a target or to the figures that a view shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/choice.hpp"

namespace nopscope::host {

struct ControlRequest {
    std::vector<std::string> words;  // a verb of verbs.hpp and its arguments
    Choice choice = {};              // for trace; its filter holds the verb's arguments
    std::string recorder = {};       // for trace; empty: the recorder that was set last
    bool also = false;               // for trace: other functions keep their state
};

// The figures that a live view has counted.
class Figures {
public:
    virtual ~Figures() = default;
    // They begin again, because of `request`: now, or at `clock` of the target if that is later.
    // Throws Error if nothing more can come.
    virtual void zero(const std::string& request, std::optional<std::uint64_t> clock) = 0;
};

}  // namespace nopscope::host
