// SPDX-License-Identifier: Apache-2.0
// How the parts of a view name a function: by its position in the view's list.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "host-tools/profile/function_table.hpp"
#include "host-tools/report/report.hpp"

namespace nopscope {

// Addresses are even. Nothing: no function's, nor an interrupt's.
inline std::optional<std::uint64_t> key_of(const FunctionPlace& place) {
    if (place.interrupt) return interrupt_offset(*place.interrupt);
    return place.address != 0 ? std::optional(place.address) : std::nullopt;
}

// Below 0: the list has none of this key.
using PositionOf = std::function<std::int64_t(std::uint64_t key)>;

}  // namespace nopscope
