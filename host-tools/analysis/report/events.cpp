// SPDX-License-Identifier: Apache-2.0
// The PMU's events by function and by call path.
//
// Recording a call retires a constant number of instructions, which the target sends
// (protocol::EventCosts). The report subtracts them from INST_RETIRED, as correction.hpp does for
// times. The effect on other events depends on the CPU and the program, so they are as counted.
#include <fmt/format.h>

#include <algorithm>

#include "host-tools/analysis/profile/paths.hpp"
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/report/table.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint32_t inst_retired = 0x08;
constexpr std::int64_t landing_pad = 1;  // instructions

struct Overhead {
    std::int64_t total = 0;
    std::int64_t self = 0;
};

std::uint64_t less(std::uint64_t counted, std::int64_t overhead) {
    const std::int64_t rest = static_cast<std::int64_t>(counted) - overhead;
    return rest > 0 ? static_cast<std::uint64_t>(rest) : 0;
}
EventCell cell_of(const EventSums& sums, const Overhead& overhead) {
    return {sums.calls, sums.total, sums.self, less(sums.total, overhead.total),
            less(sums.self, overhead.self)};
}

// By node, of which `sums` has as many. A path's number is above its caller's.
std::vector<Overhead> overhead_by_node(const std::vector<CallTree::Node>& nodes,
                                       const std::vector<EventSums>& sums,
                                       const protocol::EventCosts& costs,
                                       const std::vector<bool>& local) {
    std::vector<Overhead> overhead(nodes.size());
    for (std::size_t i = nodes.size(); i-- > CallTree::first_path;) {
        if (!nodes[i].is_path()) continue;
        const auto calls = static_cast<std::int64_t>(sums[i].calls);
        const auto both = static_cast<std::int64_t>(sums[i].both);
        const std::int64_t pads = local[nodes[i].function] ? calls * landing_pad : 0;
        const std::int64_t inside = calls * costs.graph_inside + pads;
        const std::int64_t outside =
            (calls - both) * costs.graph_outside + both * costs.graph_outside_both - pads;
        overhead[i].self += inside;
        overhead[i].total += inside;
        overhead[nodes[i].parent].self += outside;
        overhead[nodes[i].parent].total += outside + overhead[i].total;
    }
    return overhead;
}

void add(EventCell& to, const EventCell& from, bool with_total) {
    to.calls += from.calls;
    to.self += from.self;
    to.corrected_self += from.corrected_self;
    if (!with_total) return;
    to.total += from.total;
    to.corrected_total += from.corrected_total;
}

bool is_counted(const EventRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const EventCell& cell) { return cell.calls != 0; });
}

void add_of_calls(EventTable& table, const Profile& profile, const std::vector<bool>& local,
                  const std::vector<FunctionRow>& by_number) {
    const auto& nodes = profile.tree().nodes();
    const auto& by_event = profile.call_events().by_number();
    std::vector<EventRow> rows(by_number.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        static_cast<FunctionPlace&>(rows[i]) = by_number[i];
        rows[i].cells.resize(by_event.size());
    }
    for (auto [number, sums] : by_event) {
        sums.resize(nodes.size());
        const protocol::EventCosts& costs = profile.hello()->event_costs;
        const bool corrected = number == inst_retired && costs.known;
        std::vector<Overhead> overhead(nodes.size());
        if (corrected) overhead = overhead_by_node(nodes, sums, costs, local);
        std::vector<EventCell> cells(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) cells[i] = cell_of(sums[i], overhead[i]);
        const std::size_t column = table.columns.size();
        for_each_path(nodes, rows.size(), [&](std::uint32_t node, bool outermost) {
            add(rows[nodes[node].function].cells[column], cells[node], outermost);
        });
        table.columns.push_back({number, event_name(number), corrected});
        table.nodes.push_back(std::move(cells));
    }
    std::erase_if(rows, [](const EventRow& row) { return !is_counted(row); });
    table.rows = std::move(rows);
}

template <typename PlaceOf, typename IsLocal>
void add_of_profile(EventTable& table, const Profile& profile, PlaceOf place_of, IsLocal is_local) {
    const auto& functions = profile.events_on_target().functions();
    std::map<std::uint32_t, std::size_t> columns;
    for (const auto& [offset, events] : functions) {
        for (const auto& [number, sums] : events) columns.emplace(number, 0);
    }
    const protocol::EventCosts& costs = profile.hello()->event_costs;
    for (auto& [number, column] : columns) {
        column = table.columns.size();
        table.columns.push_back(
            {number, event_name(number), number == inst_retired && costs.known});
    }
    for (const auto& [offset, events] : functions) {
        EventRow row;
        static_cast<FunctionPlace&>(row) = place_of(offset);
        row.cells.resize(columns.size());
        for (const auto& [number, sums] : events) {
            const std::int64_t inside = costs.profile_inside + (is_local(offset) ? landing_pad : 0);
            const std::int64_t overhead = table.columns[columns[number]].corrected
                                              ? static_cast<std::int64_t>(sums.calls) * inside
                                              : 0;
            row.cells[columns[number]] = cell_of(sums, {overhead, overhead});
        }
        table.rows.push_back(std::move(row));
    }
}

std::string per_call(std::uint64_t count, std::uint64_t calls) {
    if (calls == 0) return "-";
    const double mean = static_cast<double>(count) / static_cast<double>(calls);
    return mean >= 1e6 ? with_commas(static_cast<std::uint64_t>(mean))
                       : fmt::format("{:.1f}", mean);
}

std::string costs_line(const EventTable& table, bool raw, const std::string& overhead) {
    const bool corrected = std::any_of(table.columns.begin(), table.columns.end(),
                                       [](const EventColumn& column) { return column.corrected; });
    std::string others;
    for (const EventColumn& column : table.columns) {
        if (!column.corrected) others += (others.empty() ? "" : ", ") + column.name;
    }
    std::string line;
    if (corrected)
        line = fmt::format("inst_retired: {} {}", raw ? "in it is" : "taken off is", overhead);
    if (!others.empty())
        line += fmt::format("{}{}: with what recording adds", corrected ? "; " : "", others);
    return line + "\n";
}

std::string text_table(EventTable events, bool raw, SortKey key, std::size_t top) {
    sort_rows(events.rows, key, top, raw);
    Line heads;
    for (const EventColumn& column : events.columns) {
        for (const char* what : {"calls", "total", "self", "per call"}) {
            const bool names = what == std::string_view("total");
            heads.push_back(names ? column.name : what);
        }
    }
    // If events were always counted together, one column of calls is enough.
    bool alike = true;
    for (const EventRow& row : events.rows) {
        for (const EventCell& cell : row.cells) alike &= cell.calls == row.cells[0].calls;
    }
    const auto is_left_out = [alike](std::size_t cell) {
        return alike && cell != 0 && cell % 4 == 0;
    };
    const auto shown = [&](const Line& line, const std::string& name, const std::string& place) {
        Line out;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (!is_left_out(i)) out.push_back(line[i]);
        }
        out.push_back(name);
        out.push_back(place);
        return out;
    };
    std::vector<Line> lines{shown(heads, "function", "defined at")};
    for (const EventRow& row : events.rows) {
        Line line;
        for (const EventCell& cell : row.cells) {
            const std::uint64_t total = total_of(cell, raw);
            line.insert(line.end(), {with_commas(cell.calls), with_commas(total),
                                     with_commas(self_of(cell, raw)), per_call(total, cell.calls)});
        }
        lines.push_back(shown(line, for_cell(row.name), short_place(row)));
    }
    return table(lines);
}

Json json_cells(const EventTable& table, const std::vector<EventCell>& cells) {
    Json json = Json::object();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        json[table.columns[i].name] = {{"calls", cells[i].calls},
                                       {"total", cells[i].total},
                                       {"self", cells[i].self},
                                       {"corrected_total", cells[i].corrected_total},
                                       {"corrected_self", cells[i].corrected_self}};
    }
    return json;
}

const EventRow* row_of(const EventTable& table, std::uint64_t address) {
    const auto found =
        std::lower_bound(table.rows.begin(), table.rows.end(), address,
                         [](const EventRow& row, std::uint64_t at) { return row.address < at; });
    return found != table.rows.end() && found->address == address ? &*found : nullptr;
}

}  // namespace

void add_events(Report& report, const Profile& profile, const std::vector<bool>& local,
                const std::function<FunctionPlace(std::uint32_t)>& place_of,
                const std::function<bool(std::uint32_t)>& is_local) {
    report.event_costs = profile.hello()->event_costs;
    add_of_calls(report.events, profile, local, report.by_number);
    add_of_profile(report.profile_events, profile, place_of, is_local);
    for (EventTable* const table : {&report.events, &report.profile_events}) {
        std::stable_sort(
            table->rows.begin(), table->rows.end(),
            [](const EventRow& a, const EventRow& b) { return a.address < b.address; });
    }
}

void sort_rows(std::vector<EventRow>& rows, SortKey key, std::size_t top, bool raw) {
    const auto value = [key, raw](const EventRow& row) {
        const EventCell& cell = row.cells.front();
        if (key == SortKey::calls) return cell.calls;
        return key == SortKey::total ? total_of(cell, raw) : self_of(cell, raw);
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const EventRow& a, const EventRow& b) {
        return value(a) != value(b) ? value(a) > value(b) : a.name < b.name;
    });
    if (top != 0 && rows.size() > top) rows.resize(top);
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

void json_events(Json& json, const Report& report) {
    const auto list = [](const EventTable& table) {
        Json columns = Json::array();
        for (const EventColumn& column : table.columns) {
            columns.push_back({{"name", column.name},
                               {"number", column.number},
                               {"corrected", column.corrected}});
        }
        return columns;
    };
    // `functions` has the same rows in the same order, but no interrupts.
    const auto put = [](Json& functions, const auto& rows, const EventTable& table) {
        auto function = functions.begin();
        for (const auto& row : rows) {
            if (row.interrupt) continue;
            const EventRow* const events = row_of(table, row.address);
            (*function++)["events"] =
                events != nullptr ? json_cells(table, events->cells) : Json::object();
        }
    };
    if (!report.events.columns.empty()) {
        json["events"] = list(report.events);
        put(json["functions"], report.functions, report.events);
    }
    if (!report.profile_events.columns.empty()) {
        json["profile"]["events"] = list(report.profile_events);
        put(json["profile"]["functions"], report.profile, report.profile_events);
    }
}

Json json_node_events(const Report& report, std::uint32_t node) {
    std::vector<EventCell> cells;
    cells.reserve(report.events.nodes.size());
    for (const auto& of : report.events.nodes) cells.push_back(of[node]);
    return json_cells(report.events, cells);
}

std::string csv_event_heads(const EventTable& table) {
    std::string out;
    for (const EventColumn& column : table.columns) {
        for (const char* what : {"calls", "total", "self", "corrected_total", "corrected_self"}) {
            out += fmt::format(",{}_{}", column.name, what);
        }
    }
    return out;
}
std::string csv_events(const EventTable& table, std::uint64_t address) {
    std::string out;
    const EventRow* const row = row_of(table, address);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const EventCell cell = row != nullptr ? row->cells[i] : EventCell{};
        out += fmt::format(",{},{},{},{},{}", cell.calls, cell.total, cell.self,
                           cell.corrected_total, cell.corrected_self);
    }
    return out;
}

}  // namespace nopscope::host
