// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t shown_marks = 20;

// Large values, mostly addresses, are easier to recognise in hexadecimal.
std::string value_text(std::int64_t value) {
    constexpr std::int64_t large = std::int64_t{1} << 32;
    return value > -large && value < large
               ? fmt::format("{}", value)
               : fmt::format("{:#x}", static_cast<std::uint64_t>(value));
}

// "5 (12 times), -1 (once)": the most frequent first.
std::string different_text(const ValueSeries& series) {
    std::vector<std::pair<std::int64_t, std::uint64_t>> values(series.different.begin(),
                                                               series.different.end());
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> parts;
    for (const auto& [value, times] : values) {
        parts.push_back(fmt::format("{} ({})", value_text(value),
                                    times == 1 ? "once" : with_commas(times) + " times"));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

Line line_of(const ValueSeries& series, std::string what) {
    return {with_commas(series.count), value_text(series.min), value_text(series.max),
            value_text(series.last),   std::move(what),        different_text(series)};
}

std::string per_call(std::uint64_t count, std::uint64_t calls) {
    if (calls == 0) return "-";
    const double mean = static_cast<double>(count) / static_cast<double>(calls);
    return mean >= 1e6 ? with_commas(static_cast<std::uint64_t>(mean))
                       : fmt::format("{:.1f}", mean);
}

std::string costs_line(const EventTable& table, bool raw, const std::string& overhead) {
    std::vector<std::string> others, parts;
    for (const EventColumn& column : table.columns) {
        if (column.corrected)
            parts = {
                fmt::format("inst_retired: {} {}", raw ? "in it is" : "taken off is", overhead)};
        else
            others.push_back(column.name);
    }
    if (!others.empty())
        parts.push_back(fmt::format("{}: with what recording adds", fmt::join(others, ", ")));
    return fmt::format("{}\n", fmt::join(parts, "; "));
}

std::string text_table(EventTable events, bool raw, SortKey key, std::size_t top) {
    sort_rows(events.rows, key, top, raw);
    // If events were always counted together, one column of calls is enough.
    bool alike = true;
    for (const EventRow& row : events.rows) {
        for (const EventCell& cell : row.cells) alike &= cell.calls == row.cells[0].calls;
    }
    Line heads;
    for (const EventColumn& column : events.columns) {
        if (!alike || heads.empty()) heads.emplace_back("calls");
        heads.insert(heads.end(), {column.name, "self", "per call"});
    }
    heads.insert(heads.end(), {"function", "defined at"});
    std::vector<Line> lines{std::move(heads)};
    for (const EventRow& row : events.rows) {
        Line line;
        for (const EventCell& cell : row.cells) {
            const EventCounts& shown = cell.shown(raw);
            if (!alike || line.empty()) line.push_back(with_commas(cell.calls));
            line.insert(line.end(), {with_commas(shown.total), with_commas(shown.self),
                                     per_call(shown.total, cell.calls)});
        }
        line.insert(line.end(), {for_cell(row.name), short_place(row)});
        lines.push_back(std::move(line));
    }
    return table(lines);
}

}  // namespace

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

std::string text_events(const Report& report) {
    std::string out;
    const auto add_table = [&](const EventTable& events, const char* what,
                               const std::string& overhead) {
        if (events.columns.empty()) return;
        out += fmt::format("events of {}; {}", what, costs_line(events, report.raw, overhead));
        out += text_table(events, report.raw, report.sort, report.top) + "\n";
    };
    const protocol::EventCosts& costs = report.event_costs;
    add_table(report.events, "calls that have returned",
              fmt::format("{} of each call and {} of its caller ({} with two events)",
                          costs.graph_inside, costs.graph_outside, costs.graph_outside_both));
    add_table(
        report.profile_events, "the profile",
        fmt::format(
            "{} of each call; what recording a call takes of its caller ({}) is in the caller's",
            costs.profile_inside, costs.profile_outside));
    return out;
}

std::string head_of_samples(const Report& report) {
    const SampleReport& samples = report.samples;
    std::string line = fmt::format("{} sample{}, one every {} of a core's time",
                                   with_commas(samples.count), samples.count == 1 ? "" : "s",
                                   human_ns(report.duration_ns * report.cores / samples.count));
    if (samples.cut != 0)
        line += fmt::format("; of {} the outermost callers are left out", with_commas(samples.cut));
    return line + "\n";
}

std::string percent_of(std::uint64_t part, std::uint64_t all) {
    return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

std::string text_samples(const Report& report) {
    const SampleReport& samples = report.samples;
    if (samples.count == 0) return {};
    std::vector<Line> lines{{"self", "share", "total", "share", "function", "defined at"}};
    for (const SampleRow& row : samples.functions) {
        lines.push_back({with_commas(row.self), percent_of(row.self, samples.count),
                         with_commas(row.total), percent_of(row.total, samples.count),
                         for_cell(row.name), short_place(row)});
    }
    return head_of_samples(report) + table(lines) + "\n";
}

std::string text_captured(const Report& report) {
    if (report.captured.empty() && report.counters.empty()) return {};
    std::vector<Line> lines{{"count", "min", "max", "last", "value", "of these"}};
    for (const CapturedRow& row : report.captured) {
        lines.push_back(line_of(row.series, for_cell(row.name) + " " + row.what));
    }
    for (const auto& [id, series] : report.counters) {
        lines.push_back(line_of(series, fmt::format("counter {}", id)));
    }
    return table(lines) + "\n";
}

std::string text_marks(const Report& report) {
    if (report.marks.empty()) return {};
    std::string out = "markers\n";
    auto to = std::back_inserter(out);
    for (const MarkRow& mark :
         std::span(report.marks).first(std::min(shown_marks, report.marks.size()))) {
        fmt::format_to(to, "{:>12}  id {}, core {}", human_ns(mark.time_ns), mark.id, mark.core);
        if (mark.context != 0) fmt::format_to(to, ", context {}", mark.context);
        if (report.sessions > 1) fmt::format_to(to, ", session {}", mark.session + 1);
        if (!mark.function.empty()) fmt::format_to(to, "  {}", for_cell(mark.function));
        out += '\n';
    }
    if (report.marks.size() > shown_marks) {
        fmt::format_to(to, "{:>12}  and {} more\n", "",
                       with_commas(report.marks.size() - shown_marks));
    }
    return out + "\n";
}

}  // namespace nopscope::host
