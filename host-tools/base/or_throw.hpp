// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

// The result's value. Throws its error.
template <typename T>
T or_throw(Result<T> result) {
    if (!result) throw std::move(result).error();
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace nopscope::host
