// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/csv.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

// The columns of a table: the head, and the cell of one row.
using Columns = std::vector<std::pair<std::string, std::string>>;

void add(Columns& to, const std::string& head, std::uint64_t value) {
    to.emplace_back(head, std::to_string(value));
}

// Empty cells if no whole call was seen.
void add(Columns& to, const std::string& prefix, const RowTimes& times) {
    add(to, prefix + "total_ns", times.total_ns);
    add(to, prefix + "self_ns", times.self_ns);
    for (const auto& [head, part] : {std::pair("min_ns", &CallTimes::min_ns),
                                     {"mean_ns", &CallTimes::mean_ns},
                                     {"max_ns", &CallTimes::max_ns}}) {
        to.emplace_back(prefix + head, times.call ? std::to_string((*times.call).*part) : "");
    }
}

Columns columns_of(const FunctionRow& row) {
    Columns to;
    add(to, "calls", row.calls);
    add(to, "", row);
    to.emplace_back("share", fmt::format("{:.6f}", row.share));
    add(to, "open", row.open);
    add(to, "lost", row.lost);
    add(to, "unwound", row.unwound);
    add(to, "incomplete", row.incomplete);
    add(to, "corrected_", row.corrected);
    add(to, "cpu_ns", row.cpu_ns);
    add(to, "corrected_cpu_ns", row.corrected.cpu_ns);
    return to;
}
Columns columns_of(const ProfileRow& row) {
    Columns to;
    add(to, "calls", row.calls);
    add(to, "", row);
    add(to, "p50_ns", row.percentiles_ns[0]);
    add(to, "p99_ns", row.percentiles_ns[1]);
    to.emplace_back("share", fmt::format("{:.6f}", row.share));
    add(to, "corrected_", row.corrected);
    add(to, "corrected_p50_ns", row.corrected_percentiles_ns[0]);
    add(to, "corrected_p99_ns", row.corrected_percentiles_ns[1]);
    return to;
}
Columns columns_of(const SampleRow* row) {
    Columns to;
    add(to, "samples", row != nullptr ? row->self : 0);
    add(to, "sampled_total", row != nullptr ? row->total : 0);
    return to;
}
Columns columns_of(const EventTable& table, std::uint64_t address) {
    Columns to;
    const EventRow* const row = row_of(table, address);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string name = table.columns[i].name + "_";
        const EventCell cell = row != nullptr ? row->cells[i] : EventCell{};
        add(to, name + "calls", cell.calls);
        add(to, name + "total", cell.total);
        add(to, name + "self", cell.self);
        add(to, name + "corrected_total", cell.corrected.total);
        add(to, name + "corrected_self", cell.corrected.self);
    }
    return to;
}

// Each begins with a comma.
std::string heads(const Columns& columns) {
    std::string line;
    for (const auto& [head, cell] : columns) line += "," + head;
    return line;
}
std::string cells(const Columns& columns) {
    std::string line;
    for (const auto& [head, cell] : columns) line += "," + cell;
    return line;
}

// `group`: the first column's cell of a row, with a comma; empty: there is no such column.
template <typename Row, typename Group>
std::string csv_of(const Report& report, const std::vector<Row>& rows, const EventTable& events,
                   const std::string& group_head, Group group) {
    const auto place = [](const FunctionPlace& row) {
        return fmt::format("{},{},{},{}", csv_cell(row.name), hex_address(row.address),
                           csv_cell(row.file), row.line);
    };
    std::map<std::uint64_t, const SampleRow*> sampled;
    for (const SampleRow& row : report.samples.functions) sampled[row.address] = &row;
    const Columns own = columns_of(Row{});
    std::string out = group_head + "name,address,file,line" + heads(own) +
                      heads(columns_of(nullptr)) + heads(columns_of(events, 0)) + "\n";
    for (const Row& row : rows) {
        const auto found = sampled.extract(row.address);
        out += group(row) + place(row) + cells(columns_of(row)) +
               cells(columns_of(found ? found.mapped() : nullptr)) +
               cells(columns_of(events, row.address)) + "\n";
    }
    for (const SampleRow& row : report.samples.functions) {
        if (!sampled.contains(row.address)) continue;
        out += (group_head.empty() ? "" : ",") + place(row) + std::string(own.size(), ',') +
               cells(columns_of(&row)) + cells(columns_of(events, 0)) + "\n";
    }
    return out;
}

}  // namespace

std::string csv_report(const Report& report) {
    if (!report.has_calls() && report.read_out != 0)
        return csv_of(report, report.profile, report.profile_events, "",
                      [](const ProfileRow&) { return ""; });
    const bool is_split = report.split != SplitBy::nothing;
    return csv_of(report, report.functions, report.events,
                  !is_split                       ? ""
                  : report.split == SplitBy::core ? "core,"
                                                  : "task,",
                  [&](const FunctionRow& row) {
                      return is_split ? csv_cell(report.groups[row.group]) + "," : "";
                  });
}

}  // namespace nopscope::host
