// SPDX-License-Identifier: Apache-2.0
// The values that a report shows besides times: captured registers, counters, marks.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/report/table.hpp"
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
    std::string out;
    for (const auto& [value, times] : values) {
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", value_text(value),
                           times == 1 ? "once" : with_commas(times) + " times");
    }
    return out;
}

Line line_of(const ValueSeries& series, std::string what) {
    return {with_commas(series.count), value_text(series.min), value_text(series.max),
            value_text(series.last),   std::move(what),        different_text(series)};
}

Json json_series(Json row, const ValueSeries& series) {
    row["count"] = series.count;
    row["min"] = series.min;
    row["max"] = series.max;
    row["last"] = series.last;
    row["values"] = nullptr;
    if (series.different.empty()) return row;
    row["values"] = Json::array();
    for (const auto& [value, times] : series.different) row["values"].push_back({value, times});
    return row;
}

}  // namespace

void add_captured(Report& report, const Profile& profile) {
    for (const auto& [key, series] : profile.captured().of_functions()) {
        CapturedRow row;
        static_cast<FunctionPlace&>(row) = report.by_number[key.first];
        row.what = captured_name(report.architecture, key.second);
        row.series = series;
        report.captured.push_back(std::move(row));
    }
    std::stable_sort(report.captured.begin(), report.captured.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
    report.counters = profile.captured().counters();
    for (const Marker& marker : profile.markers()) {
        report.marks.push_back({.time_ns = ticks_to_ns(marker.ticks, report.clock_hz),
                                .id = marker.id,
                                .core = marker.core,
                                .context = marker.context,
                                .session = marker.session,
                                .function = marker.function == Marker::in_nothing
                                                ? ""
                                                : report.by_number[marker.function].name});
    }
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

Json json_marks(const Report& report) {
    Json list = Json::array();
    for (const MarkRow& mark : report.marks) {
        list.push_back(
            {{"time_ns", mark.time_ns},
             {"id", mark.id},
             {"core", mark.core},
             {"context", mark.context},
             {"session", mark.session},
             {"function", mark.function.empty() ? Json(nullptr) : Json(to_utf8(mark.function))}});
    }
    return list;
}

void json_captured(Json& json, const Report& report) {
    for (const CapturedRow& row : report.captured) {
        json["captured"].push_back(json_series({{"name", to_utf8(row.name)},
                                                {"address", hex_address(row.address)},
                                                {"what", row.what}},
                                               row.series));
    }
    for (const auto& [id, series] : report.counters) {
        json["counters"].push_back(json_series({{"id", id}}, series));
    }
    if (!report.marks.empty()) json["markers"] = json_marks(report);
}

}  // namespace nopscope::host
