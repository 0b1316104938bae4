// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/report/table.hpp"

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

void add_count(std::string& list, std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", with_commas(count), what);
}

}  // namespace nopscope::host
