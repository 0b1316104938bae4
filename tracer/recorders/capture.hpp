// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/capture.hpp"
#include "tracer/core/steps.hpp"

namespace nopscope {

// capture_arguments(), unless `mask` is 0, then capture_result(), if `result` says so.
Steps change_captures(const Sites& sites, std::uint8_t mask, bool result);
// capture_nothing().
Steps end_captures(const Sites& sites);

}  // namespace nopscope
