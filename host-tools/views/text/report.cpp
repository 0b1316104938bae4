// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

std::string cell_of(const std::optional<CallTimes>& of, std::uint64_t CallTimes::*part) {
    return of ? human_ns((*of).*part) : "-";
}

std::string notes(const FunctionRow& row) {
    std::string text;
    add_count(text, row.open, "open");
    add_count(text, row.unwound, "unwound");
    add_count(text, row.lost, "lost");
    add_count(text, row.incomplete, "incomplete");
    add_count(text, row.cut, "cut");
    add_count(text, row.profiled, "in the profile");
    return text.empty() ? text : "  [" + text + "]";
}

// The worst missing parts, and the meaning of the marks.
std::string missing_lines(const Report& report) {
    if (report.missing.empty()) return {};
    constexpr std::size_t shown = 5;
    std::vector<MissingRow> worst = report.missing;
    std::stable_sort(worst.begin(), worst.end(),
                     [](const MissingRow& a, const MissingRow& b) { return a.all() > b.all(); });
    std::string out = "missing";
    if (worst.size() > shown) out += fmt::format(", the worst {} of {}", shown, worst.size());
    out += ":\n";
    for (const MissingRow& row : std::span(worst).first(std::min(shown, worst.size()))) {
        std::string what;
        add_count(what, row.lost, "lost on the line");
        add_count(what, row.overwritten, "overwritten");
        add_count(what, row.dropped, "dropped");
        out += fmt::format(
            "  core {}, {} to {}{}: {}\n", row.core, human_ns(row.from_ns), human_ns(row.to_ns),
            report.sessions > 1 ? fmt::format(" of session {}", row.session + 1) : "", what);
    }
    if (std::any_of(report.functions.begin(), report.functions.end(), is_doubtful)) {
        out +=
            "  ~ marks figures of calls that were open across a gap in the records, and self times "
            "of calls that were\n"
            "    open while records were dropped: a dropped call's time is in its caller's self "
            "time\n";
    }
    return out + "\n";
}

std::string function_table(const Report& report) {
    std::vector<Line> lines;
    // replay --around takes these times.
    const bool says_when = report.sort == SortKey::max;
    const bool has_cpu = shows_cpu(report);
    const auto add = [&](Line line, const std::string& cpu, const std::string& when,
                         const std::string& group) {
        if (has_cpu) line.insert(line.begin() + 2, cpu);
        if (says_when) line.insert(line.end() - 2, when);
        if (report.split != SplitBy::nothing) line.insert(line.end() - 2, group);
        lines.push_back(std::move(line));
    };
    add({"calls", report.on_cpu ? "on CPU" : "total", "self", "share", "min", "max", "function",
         "defined at"},
        "on CPU", "longest ended at", report.split == SplitBy::core ? "core" : "task");
    for (const FunctionRow& row : report.functions) {
        const char* const mark = has_gaps(row) ? "~" : "";
        const RowTimes& times = row.shown(report.raw);
        add({with_commas(row.calls), mark + human_ns(times.total_ns),
             (is_doubtful(row) ? "~" : "") + human_ns(times.self_ns),
             fmt::format("{:.1f} %", row.share * 100), cell_of(times.call, &CallTimes::min_ns),
             cell_of(times.call, &CallTimes::max_ns), for_cell(row.name) + notes(row),
             short_place(row)},
            mark + human_ns(times.cpu_ns), row.longest ? longest_text(*row.longest) : "-",
            for_cell(report.groups[row.group]));
    }
    return table(lines);
}

std::string profile_table(const Report& report) {
    std::vector<Line> lines{{"calls", "total", "self", "share", "min", "mean",
                             "p50 <=", "p99 <=", "max", "function", "defined at"}};
    for (const ProfileRow& row : report.profile) {
        const RowTimes& times = row.shown(report.raw);
        const auto [p50, p99] = row.percentiles(report.raw);
        lines.push_back(
            {with_commas(row.calls), human_ns(times.total_ns),
             (row.doubtful ? "~" : "") + human_ns(times.self_ns),
             fmt::format("{:.1f} %", row.share * 100), cell_of(times.call, &CallTimes::min_ns),
             cell_of(times.call, &CallTimes::mean_ns), human_ns(p50), human_ns(p99),
             cell_of(times.call, &CallTimes::max_ns), for_cell(row.name), short_place(row)});
    }
    return fmt::format("profile, read-out {}; p50 and p99 are upper ends of powers of two ticks\n",
                       report.read_out) +
           table(lines);
}

// The columns between a row's place and its samples.
constexpr std::string_view function_columns =
    "calls,total_ns,self_ns,min_ns,mean_ns,max_ns,share,open,lost,unwound,incomplete,"
    "corrected_total_ns,corrected_self_ns,corrected_min_ns,corrected_mean_ns,corrected_max_ns,"
    "cpu_ns,corrected_cpu_ns";
constexpr std::string_view profile_columns =
    "calls,total_ns,self_ns,min_ns,mean_ns,max_ns,p50_ns,p99_ns,share,"
    "corrected_total_ns,corrected_self_ns,corrected_min_ns,corrected_mean_ns,corrected_max_ns,"
    "corrected_p50_ns,corrected_p99_ns";
constexpr std::string_view event_columns = "calls,total,self,corrected_total,corrected_self";

std::string event_heads(const EventTable& table) {
    std::string text;
    for (const EventColumn& column : table.columns) {
        for (const auto head : event_columns | std::views::split(','))
            text += fmt::format(",{}_{}", column.name, std::string_view(head.begin(), head.end()));
    }
    return text;
}
std::string event_cells(const EventTable& table, std::uint64_t address) {
    const EventRow* const row = row_of(table, address);
    const std::vector<EventCell> none(table.columns.size());
    std::string text;
    for (const Json& cell : json_cells(table, row != nullptr ? row->cells : none))
        text += csv_cells(event_columns, cell);
    return text;
}

// `has_groups`: the first column is the task or the core. `json_of`: a row's cells, as members.
template <typename Row, typename JsonOf>
std::string csv_of(const Report& report, const std::vector<Row>& rows, std::string_view columns,
                   const EventTable& events, const char* group_head, JsonOf json_of) {
    std::map<std::uint64_t, const SampleRow*> sampled;
    for (const SampleRow& row : report.samples.functions) sampled[row.address] = &row;
    const auto line = [&](const std::string& group, const FunctionPlace& place,
                          const std::string& cells, std::uint64_t of_events) {
        const auto found = sampled.extract(place.address);
        return fmt::format("{}{},{},{},{}{},{},{}{}\n", group, csv_cell(place.name),
                           hex_address(place.address), csv_cell(place.file), place.line, cells,
                           found ? found.mapped()->self : 0, found ? found.mapped()->total : 0,
                           event_cells(events, of_events));
    };
    std::string out = fmt::format("{}name,address,file,line,{},samples,sampled_total{}\n",
                                  group_head, columns, event_heads(events));
    for (const Row& row : rows) {
        std::string group;
        if constexpr (std::is_same_v<Row, FunctionRow>)
            if (*group_head != '\0') group = csv_cell(report.groups[row.group]) + ",";
        out += line(group, row, csv_cells(columns, json_of(row)), row.address);
    }
    const std::string empty(
        static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ',')) + 1, ',');
    for (const SampleRow& row : report.samples.functions) {
        if (sampled.contains(row.address))
            out += line(*group_head != '\0' ? "," : "", row, empty, 0);
    }
    return out;
}

}  // namespace

std::string text_report(const Report& report) {
    std::string out;
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{} on {}, {} core{}, clock {}{:.3f} MHz, build-id {}\n",
                   report.image.empty() ? "image" : for_cell(report.image),
                   report.board.empty() ? "an unnamed board" : for_cell(report.board), report.cores,
                   report.cores == 1 ? "" : "s",
                   report.clock == protocol::Clock::timer
                       ? std::string()
                       : fmt::format("{} at ", clock_name(report)),
                   static_cast<double>(report.clock_hz) / 1e6,
                   report.build_id.empty() ? "(none)" : to_hex(report.build_id));
    out += others_line(report);
    out += loss_line(report);
    fmt::format_to(to, "{}; {}{}\n", recorded_text(report), mode_text(report),
                   report.sessions > 1
                       ? fmt::format("; the target was reset {} time{}", report.sessions - 1,
                                     report.sessions == 2 ? "" : "s")
                       : std::string());
    for (const HeadLine& line : head_lines(report))
        out += fmt::format("{}: {}\n", line.name, line.text);
    out += overhead_line(report) + "\n";
    const bool only_others = report.read_out != 0 || report.samples.count != 0;
    if (!report.functions.empty() || !only_others) out += function_table(report) + "\n";
    if (report.adaptive) {
        out += fmt::format(
            "{} moves between trace and profile; what a traced function's callees spent in the "
            "profile is in its self time, too\n\n",
            with_commas(report.moves));
    } else if (report.read_out != 0) {
        out += profile_table(report) + "\n";
    }
    out += text_events(report) + text_samples(report) + text_captured(report) + text_marks(report);
    return out + missing_lines(report) + integrity_line(report.integrity) + "\n";
}

std::string csv_cells(std::string_view columns, const Json& row) {
    std::string text;
    for (const auto name : columns | std::views::split(',')) {
        const auto value = row.find(std::string(name.begin(), name.end()));
        text += ',';
        if (value == row.end() || value->is_null()) continue;
        text += value->is_number_float() ? fmt::format("{:.6f}", value->get<double>())
                : value->is_boolean()    ? std::to_string(value->get<bool>())
                                         : value->dump();
    }
    return text;
}

std::string csv_report(const Report& report) {
    if (!report.has_calls() && report.read_out != 0)
        return csv_of(report, report.profile, profile_columns, report.profile_events, "",
                      json_profiled);
    const char* const group_head = report.split == SplitBy::core   ? "core,"
                                   : report.split == SplitBy::task ? "task,"
                                                                   : "";
    return csv_of(report, report.functions, function_columns, report.events, group_head,
                  [&](const FunctionRow& row) { return json_function(report, row); });
}

}  // namespace nopscope::host
