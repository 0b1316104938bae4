// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

// The list of the view, with its head: so many lines from ui.first on, or as many as there are.
void add_list(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows, std::size_t width);

}  // namespace nopscope::host::top
