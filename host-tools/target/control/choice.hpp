// SPDX-License-Identifier: Apache-2.0
// Functions by what a person calls them -> ranges of site indexes, which is all a target knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

// `*`: any characters, `?`: one; the whole text must match.
bool glob_matches(std::string_view glob, std::string_view text);

// By its name, demangled or not; of a C++ function also without its parameters.
bool names_function(std::string_view glob, const Function& function);

// Empty lists choose: all, none.
struct Choice {
    std::vector<std::string> filter;
    std::vector<std::string> notrace;
    std::optional<std::uint64_t> size_above;  // bytes

    bool chooses() const { return !filter.empty() || !notrace.empty() || size_above.has_value(); }
};

// Whether each site is chosen. Throws Error, Exit::usage, where a glob names no function, or none is
// left.
std::vector<bool> choose(const Symbols& symbols, const Choice& choice);

// The payloads of select_add: what is chosen, in as few frames as it fits in.
std::vector<std::vector<std::uint8_t>> range_payloads(const std::vector<bool>& chosen);

}  // namespace nopscope::host
