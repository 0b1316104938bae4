// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/frame.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/views/top/list.hpp"
#include "host-tools/views/top/meters.hpp"
#include "host-tools/views/top/text.hpp"

namespace nopscope::host::top {
namespace {

// Cuts each line at the screen's width.
void cut(Frame& frame, std::size_t width) {
    for (FrameLine& line : frame.lines) {
        std::size_t left = width;
        for (Span& span : line) {
            span.text = first_columns(span.text, left);
            left -= columns(span.text);
        }
    }
}

// The last lines of a text, wrapped at `width`.
std::vector<std::string> last_lines(std::string_view text, std::size_t rows, std::size_t width) {
    // At most this much fits, however long the lines are.
    if (text.size() > 4 * rows * width) text.remove_prefix(text.size() - 4 * rows * width);
    const std::string safe = for_terminal(text);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < safe.size();) {
        const std::size_t end = std::min(safe.find('\n', at), safe.size());
        std::string line;
        for (const char each : std::string_view(safe).substr(at, end - at)) {
            if (each == '\t')
                line.append(8 - columns(line) % 8, ' ');
            else
                line += each;
        }
        do {
            lines.push_back(first_columns(line, width));
            line.erase(0, lines.back().size());
        } while (!line.empty() && !lines.back().empty());
        at = end + 1;
    }
    if (lines.size() > rows) lines.erase(lines.begin(), lines.end() - static_cast<long>(rows));
    return lines;
}

void add_console(Frame& frame, const LiveView& view, std::size_t rows, std::size_t width) {
    if (rows == 0) return;
    frame.lines.push_back({{left("console", width), Style::head}});
    for (std::string& line : last_lines(view.status.console, rows - 1, width)) {
        frame.lines.push_back({{std::move(line), Style::plain}});
    }
}

// As many lines as fit; `ui` notes whether more follow.
void add_help(Frame& frame, Ui& ui, std::size_t rows, std::size_t width) {
    std::size_t widest = 0;
    for (const KeyHelp& each : key_help()) widest = std::max(widest, columns(each.keys));
    std::vector<FrameLine> lines;
    for (const KeyHelp& each : key_help()) {
        const std::string keys = " " + left(each.keys, widest) + "  ";
        for (FrameLine& line :
             wrapped({{keys, Style::bold}, {each.does, Style::plain}}, width, columns(keys)))
            lines.push_back(std::move(line));
    }
    ui.page = std::max<std::size_t>(rows, 1);
    ui.help_first = std::min(ui.help_first, lines.size());
    ui.help_goes_on = lines.size() - ui.help_first > rows;
    for (std::size_t i = 0; i < rows && ui.help_first + i < lines.size(); ++i)
        frame.lines.push_back(std::move(lines[ui.help_first + i]));
}

// As many keys as fit, the most important ones first.
std::string footer(std::size_t width) {
    std::string text;
    for (const char* const key :
         {"? help", "q quit", "/ search", "< > sort", "t tree", "f trace", "z zero", "r record",
          "p pause", "c console", "k tasks", "C core", "T task", "m mark"}) {
        const std::string more = (text.empty() ? "" : "  ") + std::string(key);
        if (text.size() + more.size() > width) break;
        text += more;
    }
    return text;
}

FrameLine prompt_line(Frame& frame, const Ui& ui, const std::string& text, Size size) {
    const std::size_t width = std::max<std::size_t>(size.columns, 1);
    // The end of the typed text stays visible.
    std::string typed = for_cell(ui.typed);
    const std::size_t room = width > columns(text) + 1 ? width - columns(text) - 1 : 0;
    while (columns(typed) > room) typed.erase(0, 1);
    frame.has_cursor = true;
    frame.cursor_row = size.rows - 1;
    frame.cursor_column = std::min(columns(text) + columns(typed), width - 1);
    const bool misses = ui.prompt == Prompt::search && ui.message_is_bad;
    return {{text, Style::bold}, {typed, misses ? Style::bad : Style::plain}};
}

// The lines at the screen's end: an answer, a prompt and what may be typed there, or keys.
std::vector<FrameLine> bottom_lines(Frame& frame, const Ui& ui, Size size) {
    const std::size_t width = std::max<std::size_t>(size.columns, 1);
    if (ui.prompt != Prompt::none) {
        const std::string hint = prompt_hint(ui);
        std::string text = prompt_text(ui);
        std::vector<FrameLine> lines;
        // A long list has lines of its own, so that there is room to type.
        if (text.size() + hint.size() > width / 2 && size.rows > 8)
            lines = wrapped({{hint, Style::dim}}, width, 0);
        else if (!hint.empty())
            text += " " + hint;
        lines.push_back(prompt_line(frame, ui, text + ": ", size));
        return lines;
    }
    if (!ui.message.empty()) {
        auto lines = wrapped({{for_cell(ui.message), ui.message_is_bad ? Style::bad : Style::good}},
                             width, 2);
        lines.resize(std::min(lines.size(), std::max<std::size_t>(size.rows / 2, 1)));
        return lines;
    }
    const char* const more = ui.help_goes_on ? "space: more  any other key: back" : "any key: back";
    return {{{ui.help ? more : footer(width), Style::dim}}};
}

constexpr std::size_t least_width = 40;  // a narrower screen cuts its lines

class Wrapper {
public:
    Wrapper(std::size_t width, std::size_t indent) : width_(width), indent_(indent) {}

    // `word`: spaces, and what follows up to the next spaces.
    void add(std::string word, Style style) {
        if (has_ + columns(word) > width_) {
            word.erase(0, word.find_first_not_of(' '));
            begin_line();
            while (columns(word) > width_ - has_) {
                const std::string piece = first_columns(word, width_ - has_);
                if (piece.empty()) break;
                put(piece, style);
                word.erase(0, piece.size());
                begin_line();
            }
        }
        put(word, style);
    }
    std::vector<FrameLine> take() { return std::move(lines_); }

private:
    void begin_line() {
        lines_.emplace_back();
        has_ = 0;
        put(std::string(indent_, ' '), Style::plain);
    }
    void put(const std::string& text, Style style) {
        FrameLine& line = lines_.back();
        if (!line.empty() && line.back().style == style)
            line.back().text += text;
        else
            line.push_back({text, style});
        has_ += columns(text);
    }

    std::size_t width_;
    std::size_t indent_;
    std::size_t has_ = 0;  // columns of the last line
    std::vector<FrameLine> lines_{1};
};

}  // namespace

Frame draw(Ui& ui, const Lines& lines, const LiveView& view, const Rates& rates, Size size) {
    Frame frame;
    const std::size_t width = std::max<std::size_t>(size.columns, 1);
    ui.head_row.reset();
    ui.head_ends.clear();
    if (ui.help) {
        add_help(frame, ui, size.rows - std::min<std::size_t>(size.rows, 1), width);
    } else {
        add_meters(frame, ui, view, rates, width, size.rows / 2);
    }
    std::vector<FrameLine> bottom;
    if (size.rows > 0) bottom = bottom_lines(frame, ui, size);
    const std::size_t above = size.rows - bottom.size();
    const std::size_t rest = above - std::min(above, frame.lines.size());
    const std::size_t console = ui.help || rest < 8 ? 0
                                : ui.console == 0   ? 0
                                : ui.console == 1   ? rest / 5 + 1
                                                    : rest / 2;
    const std::size_t list_rows = rest - console;
    if (!ui.help && list_rows > 0) {
        scroll(ui, lines, list_rows - 1);
        add_list(frame, ui, lines, list_rows - 1, width);
    }
    while (frame.lines.size() + console < above) frame.lines.emplace_back();
    add_console(frame, view, console, width);
    frame.lines.resize(above);
    frame.lines.insert(frame.lines.end(), bottom.begin(), bottom.end());
    cut(frame, width);
    return frame;
}

Frame draw_once(const Lines& lines, const LiveView& view, const Rates& rates, Column sort,
                std::size_t top_lines, std::size_t width) {
    Frame frame;
    Ui ui;
    ui.sort = sort;
    const std::size_t all = lines.functions.size();
    add_meters(frame, ui, view, rates, width, ~std::size_t{0});
    add_list(frame, ui, lines, top_lines == 0 ? all : std::min(all, top_lines), width);
    for (FrameLine& line : frame.lines) {
        for (Span& span : line) span.style = Style::plain;
    }
    cut(frame, width);
    return frame;
}

std::string text_of(const Frame& frame) {
    std::string text;
    for (const FrameLine& line : frame.lines) {
        for (const Span& span : line) text += span.text;
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::vector<FrameLine> wrapped(const FrameLine& line, std::size_t width, std::size_t indent) {
    if (width < least_width) return {line};
    Wrapper lines(width, indent);
    for (const Span& span : line) {
        for (std::size_t at = 0; at < span.text.size();) {
            const std::size_t word = span.text.find_first_not_of(' ', at);
            const std::size_t end = word == std::string::npos ? word : span.text.find(' ', word);
            lines.add(span.text.substr(at, end - at), span.style);
            at = std::min(end, span.text.size());
        }
    }
    return lines.take();
}

}  // namespace nopscope::host::top
