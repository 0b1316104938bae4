// SPDX-License-Identifier: Apache-2.0
// Turns globs of functions' names into site indexes. A target knows its functions only by these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

// The sites that a traced call breaks (Symbols::broken_by_tracing), less those of `allowed` globs.
std::vector<Problem> not_allowed(std::vector<Problem> broken,
                                 const std::vector<std::string>& allowed);

// An empty `filter` chooses all functions, an empty `notrace` removes none.
struct Choice {
    std::vector<std::string> filter;
    std::vector<std::string> notrace;
    std::optional<std::uint64_t> size_above;  // bytes

    bool chooses() const { return !filter.empty() || !notrace.empty() || size_above.has_value(); }
};

// Returns for each site whether it is chosen. Throws Error (Exit::usage) if a glob names no
// function, or if no function remains.
std::vector<bool> choose(const Symbols& symbols, const Choice& choice);

}  // namespace nopscope::host
