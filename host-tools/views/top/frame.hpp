// SPDX-License-Identifier: Apache-2.0
// A screen of `top` as text with styles: what a terminal then shows, and a test compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/views/top/ui.hpp"

namespace nopscope::host::top {

enum class Style : std::uint8_t { plain, dim, bold, head, sorted, selected, match, good, warn, bad };

struct Span {
    std::string text;
    Style style = Style::plain;
};
using FrameLine = std::vector<Span>;

struct Frame {
    std::vector<FrameLine> lines;
    // Where the cursor is, while something is typed.
    bool has_cursor = false;
    std::size_t cursor_row = 0;
    std::size_t cursor_column = 0;
};

struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

// No line is longer than the screen's, and there are as many. Scrolls `ui` so that what is selected is shown.
Frame draw(Ui& ui, const Lines& lines, const LiveView& view, const Rates& rates, Size size);

// The same without keys and console, as many lines as it takes: `top_lines` functions (0: all).
Frame draw_once(const Lines& lines, const LiveView& view, const Rates& rates, Column sort, std::size_t top_lines,
                std::size_t width);

// The lines' text, without spaces at their ends.
std::string text_of(const Frame& frame);

}  // namespace nopscope::host::top
