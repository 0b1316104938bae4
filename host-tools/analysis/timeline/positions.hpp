// SPDX-License-Identifier: Apache-2.0
// The parts of a view name a function by its position in the view's list.
#pragma once

#include <cstdint>
#include <functional>

namespace nopscope::host {

// The position of the function with this key_of() (report.hpp). Below 0: it is not in the list.
using PositionOf = std::function<std::int64_t(std::uint64_t key)>;

}  // namespace nopscope::host
