// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/events.hpp"

#include <algorithm>

#include "host-tools/figures/profile/paths.hpp"
#include "host-tools/figures/report/report.hpp"
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
    EventCell cell;
    cell.calls = sums.calls;
    cell.total = sums.total;
    cell.self = sums.self;
    cell.corrected = {less(sums.total, overhead.total), less(sums.self, overhead.self)};
    return cell;
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
    to.corrected.self += from.corrected.self;
    if (!with_total) return;
    to.total += from.total;
    to.corrected.total += from.corrected.total;
}

EventColumn column_of(std::uint32_t number, const protocol::EventCosts& costs) {
    return {number, event_name(number), number == inst_retired && costs.known};
}

void add_of_calls(Report& report, const Profile& profile) {
    EventTable& table = report.events;
    const auto& nodes = profile.tree().nodes();
    const auto& by_event = profile.call_events().by_number();
    std::vector<EventRow>& rows = table.rows;
    for (const FunctionPlace& place : report.by_number)
        rows.emplace_back(row_at<EventRow>(place)).cells.resize(by_event.size());
    for (auto [number, sums] : by_event) {
        sums.resize(nodes.size());
        const std::size_t column = table.columns.size();
        table.columns.push_back(column_of(number, report.event_costs));
        std::vector<Overhead> overhead(nodes.size());
        if (table.columns.back().corrected)
            overhead = overhead_by_node(nodes, sums, report.event_costs, report.no_landing_pad);
        std::vector<EventCell> cells(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) cells[i] = cell_of(sums[i], overhead[i]);
        for_each_path(nodes, rows.size(), [&](std::uint32_t node, bool outermost) {
            add(rows[nodes[node].function].cells[column], cells[node], outermost);
        });
        table.nodes.push_back(std::move(cells));
    }
    std::erase_if(rows, [](const EventRow& row) {
        return std::ranges::all_of(row.cells,
                                   [](const EventCell& cell) { return cell.calls == 0; });
    });
}

void add_of_profile(Report& report, const Profile& profile, const Places& places) {
    EventTable& table = report.profile_events;
    const protocol::EventCosts& costs = report.event_costs;
    const auto& functions = profile.events_on_target().functions();
    std::map<std::uint32_t, std::size_t> columns;
    for (const auto& [offset, events] : functions) {
        for (const auto& [number, sums] : events) columns.emplace(number, 0);
    }
    for (auto& [number, column] : columns) {
        column = table.columns.size();
        table.columns.push_back(column_of(number, costs));
    }
    for (const auto& [offset, events] : functions) {
        auto row = row_at<EventRow>(places[offset]);
        row.cells.resize(columns.size());
        for (const auto& [number, sums] : events) {
            const std::int64_t inside =
                costs.profile_inside + (places.lacks_landing_pad(offset) ? landing_pad : 0);
            const std::int64_t overhead = table.columns[columns[number]].corrected
                                              ? static_cast<std::int64_t>(sums.calls) * inside
                                              : 0;
            row.cells[columns[number]] = cell_of(sums, {overhead, overhead});
        }
        table.rows.push_back(std::move(row));
    }
}

}  // namespace

void add_events(Report& report, const Profile& profile, const Places& places) {
    add_of_calls(report, profile);
    add_of_profile(report, profile, places);
    for (EventTable* const table : {&report.events, &report.profile_events}) {
        std::stable_sort(
            table->rows.begin(), table->rows.end(),
            [](const EventRow& a, const EventRow& b) { return a.address < b.address; });
    }
}

const EventRow* row_of(const EventTable& table, std::uint64_t address) {
    const auto found =
        std::lower_bound(table.rows.begin(), table.rows.end(), address,
                         [](const EventRow& row, std::uint64_t at) { return row.address < at; });
    return found != table.rows.end() && found->address == address ? &*found : nullptr;
}

void sort_rows(std::vector<EventRow>& rows, SortKey key, std::size_t top, bool raw) {
    keep_largest(rows, top, [key, raw](const EventRow& row) {
        const EventCell& cell = row.cells.front();
        if (key == SortKey::calls) return cell.calls;
        return key == SortKey::total ? cell.shown(raw).total : cell.shown(raw).self;
    });
}

}  // namespace nopscope::host
