// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

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
