// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "host-tools/base/text.hpp"

namespace nopscope::host {

std::string table(const std::vector<Line>& lines) {
    const std::size_t numbers = lines.front().size() - 2;
    std::vector<std::size_t> widths(numbers + 1);
    constexpr std::size_t widest_name = 60;
    for (const Line& line : lines) {
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::size_t limit = i == numbers ? widest_name : line[i].size();
            widths[i] = std::max(widths[i], std::min(line[i].size(), limit));
        }
    }
    std::string out;
    for (const Line& line : lines) {
        for (std::size_t i = 0; i < numbers; ++i)
            out += fmt::format("{:>{}}  ", line[i], widths[i]);
        if (line[numbers + 1].empty()) {
            out += line[numbers];
        } else {
            out += fmt::format("{:<{}}  {}", line[numbers], widths[numbers], line[numbers + 1]);
        }
        out += "\n";
    }
    return out;
}

std::string csv_cell(std::string_view text) {
    std::string out = "\"";
    const std::string cell = for_cell(text);
    if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos)
        out += '\'';
    for (const char c : cell) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string short_place(const FunctionPlace& row) {
    if (row.file.empty()) return {};
    std::size_t slash = row.file.rfind('/');
    if (slash != std::string::npos && slash != 0) slash = row.file.rfind('/', slash - 1);
    const std::string tail = slash == std::string::npos ? row.file : row.file.substr(slash + 1);
    return fmt::format("{}:{}", for_cell(tail), row.line);
}

std::string indented(unsigned depth, const std::string& name) {
    constexpr unsigned deepest_indent = 60;
    return std::string(std::size_t{2} * std::min(depth, deepest_indent), ' ') + for_cell(name);
}

std::string longest_text(const Longest& call) {
    return fmt::format("{} on core {}{}", exact_ns(call.end_ns), call.core,
                       call.context != 0 ? fmt::format(", context {}", call.context) : "");
}

}  // namespace nopscope::host
