// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host-tools/views/top/rows.hpp"

namespace nopscope::host::top {

// A view as JSON, for scripts (docs/cli.md has the fields). `top_lines` functions; 0: all.
std::string json_once(const std::vector<FunctionLine>& lines, const LiveView& view,
                      const Rates& rates, std::size_t top_lines);

}  // namespace nopscope::host::top
