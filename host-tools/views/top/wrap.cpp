// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "host-tools/views/top/frame.hpp"
#include "host-tools/views/top/text.hpp"

namespace nopscope::host::top {
namespace {

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
