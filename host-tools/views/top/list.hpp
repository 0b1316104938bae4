// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

// Adds the list of the view with its head: at most `rows` lines, from ui.first on. Notes in `ui`
// where the head is.
void add_list(Frame& frame, Ui& ui, const Lines& lines, std::size_t rows, std::size_t width);

}  // namespace nopscope::host::top
