// SPDX-License-Identifier: Apache-2.0
// A screen of `top` as text with styles. A terminal shows it, and a test compares it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/views/top/ui.hpp"

namespace nopscope::host::top {

enum class Style : std::uint8_t {
    plain,
    dim,
    bold,
    head,
    sorted,
    selected,
    match,
    good,
    warn,
    bad
};

struct Span {
    std::string text;
    Style style = Style::plain;
};
using FrameLine = std::vector<Span>;

struct Frame {
    std::vector<FrameLine> lines;
    // The cursor's place, while a person types.
    bool has_cursor = false;
    std::size_t cursor_row = 0;
    std::size_t cursor_column = 0;
};

struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

// The line in as many lines as it takes: cut between words, each further line indented. A screen
// of less than 40 columns has one line, which it cuts.
std::vector<FrameLine> wrapped(const FrameLine& line, std::size_t width, std::size_t indent);

// Fills the screen: exactly `size.rows` lines, none longer than the screen. Scrolls `ui` so that
// the selected line is visible, and notes where the mouse finds the list.
Frame draw(Ui& ui, const Lines& lines, const LiveView& view, const Rates& rates, Size size);

// The same without keys and console, in as many lines as needed: `top_lines` functions (0: all).
Frame draw_once(const Lines& lines, const LiveView& view, const Rates& rates, Column sort,
                std::size_t top_lines, std::size_t width);

// The lines' text, without spaces at their ends.
std::string text_of(const Frame& frame);

}  // namespace nopscope::host::top
