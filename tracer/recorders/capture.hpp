// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/capture.hpp"
#include "tracer/core/steps.hpp"

namespace nopscope {

// Calls capture_arguments() unless `mask` is 0, then capture_result() if `result` is true.
Steps change_captures(const Sites& sites, std::uint8_t mask, bool result);
// As capture_nothing().
Steps end_captures(const Sites& sites);

}  // namespace nopscope
