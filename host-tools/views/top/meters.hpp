// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

// What stands above the list: who is looked at and how it is, the cores, the line, what is lost. At most so many rows.
void add_meters(Frame& frame, const Ui& ui, const LiveView& view, const Rates& rates, std::size_t width, std::size_t rows);

// "[||||      41 %]", of exactly so many columns; "[         - ]" for nothing.
FrameLine meter(std::optional<double> share, std::size_t width);

}  // namespace nopscope::host::top
