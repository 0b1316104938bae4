// SPDX-License-Identifier: Apache-2.0
// How the parts of a view name a function: by its position in the view's list.
#pragma once

#include <cstdint>
#include <functional>

namespace nopscope::host {

// Of a key as key_of() (report.hpp) has it. Below 0: the list has none of this key.
using PositionOf = std::function<std::int64_t(std::uint64_t key)>;

}  // namespace nopscope::host
