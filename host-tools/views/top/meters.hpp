// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

// Adds the part above the list, in at most `rows` lines: target, state, cores, line, loss.
void add_meters(Frame& frame, const Ui& ui, const LiveView& view, const Rates& rates,
                std::size_t width, std::size_t rows);

// "[||||      41 %]", of exactly `width` columns; "[         - ]" without a share.
FrameLine meter(std::optional<double> share, std::size_t width);

}  // namespace nopscope::host::top
