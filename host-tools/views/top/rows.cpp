// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/figures/function_queries/function_queries.hpp"
#include "host-tools/figures/report/tree.hpp"

namespace nopscope::host::top {
namespace {

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
}

FunctionLine line_of(const TimedRow& row, bool raw, const Rates& rates) {
    FunctionLine line;
    line.place = row;
    line.name = for_cell(row.name);
    line.calls = row.calls;
    line.self_ns = row.shown(raw).self_ns;
    line.total_ns = row.shown(raw).total_ns;
    line.share = row.share;
    if (const auto rate = rates.calls.find(key_of(row)); rate != rates.calls.end())
        line.calls_per_second = rate->second;
    if (const auto now = rates.self.find(key_of(row)); now != rates.self.end())
        line.now = now->second;
    return line;
}

void add_durations(std::vector<FunctionLine>& lines, const Report& report, const Profile& profile) {
    std::unordered_map<std::uint64_t, FunctionLine*> at;
    for (FunctionLine& line : lines) at[key_of(line.place)] = &line;
    for (std::uint32_t number = 0; number < profile.durations().size(); ++number) {
        const auto found = at.find(key_of(report.by_number[number]));
        if (found == at.end()) continue;
        const Latency latency = latency_of(report, profile, number);
        if (latency.timed == 0) continue;
        found->second->p50_ns = latency.per_mille_ns(500);
        found->second->p99_ns = latency.per_mille_ns(990);
    }
    for (const ProfileRow& row : report.profile) {
        const auto found = at.find(key_of(row));
        if (found == at.end() || found->second->p50_ns) continue;
        found->second->p50_ns = row.percentiles(report.raw)[0];
        found->second->p99_ns = row.percentiles(report.raw)[1];
    }
}

struct ColumnFacts {
    const char* head;
    double (*value)(const FunctionLine&);  // by which it sorts
};
double known(const std::optional<std::uint64_t>& ns) { return ns ? static_cast<double>(*ns) : -1; }
// By Column.
constexpr ColumnFacts columns_facts[] = {
    {"now", [](const FunctionLine& line) { return line.now; }},
    {"calls/s", [](const FunctionLine& line) { return line.calls_per_second; }},
    {"calls", [](const FunctionLine& line) { return static_cast<double>(line.calls); }},
    {"self", [](const FunctionLine& line) { return static_cast<double>(line.self_ns); }},
    {"total", [](const FunctionLine& line) { return static_cast<double>(line.total_ns); }},
    {"share", [](const FunctionLine& line) { return line.share; }},
    {"p50", [](const FunctionLine& line) { return known(line.p50_ns); }},
    {"p99", [](const FunctionLine& line) { return known(line.p99_ns); }},
    {"function", [](const FunctionLine&) { return 0.0; }},
};
const ColumnFacts& facts_of(Column column) {
    return columns_facts[static_cast<std::size_t>(column)];
}

class Lister {
public:
    Lister(const PathTree& tree, const std::set<std::uint64_t>& toggled)
        : tree_(tree), toggled_(toggled), children_(tree.nodes.size()), totals_(tree.nodes.size()) {
        for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
            children_[tree.nodes[i].parent].push_back(i);
            totals_[i] = tree.nodes[i].total_ns;
        }
        // The node of an unknown caller has the time of its callees.
        for (auto i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 1;) {
            if (tree.nodes[i].calls != 0) continue;
            for (const std::uint32_t child : children_[i]) totals_[i] += totals_[child];
        }
        for (const std::uint32_t top : children_[0]) all_ += totals_[top];
        list(0, 0, 0);
    }
    std::vector<TreeLine> take() { return std::move(lines_); }

private:
    static constexpr unsigned max_depth = 4096;

    void list(std::uint32_t node, unsigned depth, std::uint64_t key) {
        auto& children = children_[node];
        std::stable_sort(children.begin(), children.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return totals_[a] > totals_[b]; });
        for (const std::uint32_t child : children) {
            const TreeNode& of = tree_.nodes[child];
            const FunctionPlace& place = tree_.functions[of.function];
            TreeLine line;
            line.key = (key ^ (key_of(place) + std::hash<std::string>()(place.name))) *
                       0x9e3779b97f4a7c15u;
            line.key ^= line.key >> 29;
            line.name = for_cell(place.name);
            line.depth = depth;
            line.has_children = !children_[child].empty();
            line.calls = of.calls;
            line.self_ns = of.self_ns;
            line.total_ns = totals_[child];
            line.share =
                all_ == 0 ? 0 : static_cast<double>(line.total_ns) / static_cast<double>(all_);
            line.is_open = line.has_children && (line.share >= 0.01) != toggled_.contains(line.key);
            lines_.push_back(line);
            if (line.is_open && depth < max_depth) list(child, depth + 1, line.key);
        }
    }

    const PathTree& tree_;
    const std::set<std::uint64_t>& toggled_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<std::uint64_t> totals_;
    std::uint64_t all_ = 0;
    std::vector<TreeLine> lines_;
};

}  // namespace

const char* head_of(Column column) { return facts_of(column).head; }

Column column_named(std::string_view head) {
    std::vector<std::string_view> all;
    for (const Column column : all_columns) {
        all.emplace_back(head_of(column));
        if (std::ranges::equal(all.back(), head, same_letter)) return column;
    }
    throw Error(fmt::format("{}: expected one of {}", for_cell(head), fmt::join(all, ", ")),
                Exit::usage);
}

std::vector<FunctionLine> function_lines(const LiveView& view, const Rates& rates) {
    std::vector<FunctionLine> lines;
    if (!view.report) return lines;
    const Report& report = *view.report;
    std::unordered_set<std::uint64_t> traced;
    for (const FunctionRow& row : report.functions) {
        lines.push_back(line_of(row, report.raw, rates));
        lines.back().open = row.open;
        lines.back().doubtful = is_doubtful(row);
        traced.insert(key_of(row));
    }
    for (const ProfileRow& row : report.profile) {
        if (traced.contains(key_of(row))) continue;
        lines.push_back(line_of(row, report.raw, rates));
        lines.back().doubtful = row.doubtful;
    }
    add_durations(lines, report, *view.profile);
    return lines;
}

void sort_lines(std::vector<FunctionLine>& lines, Column by, bool reversed) {
    const auto value = facts_of(by).value;
    std::sort(lines.begin(), lines.end(), [=](const FunctionLine& one, const FunctionLine& other) {
        const FunctionLine& a = reversed ? other : one;
        const FunctionLine& b = reversed ? one : other;
        if (value(a) != value(b)) return value(a) > value(b);
        if (by != Column::name && a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
        if (a.name != b.name) return a.name < b.name;
        return a.place.address < b.place.address;
    });
}

std::vector<TreeLine> tree_lines(const LiveView& view, const std::set<std::uint64_t>& toggled) {
    if (!view.report) return {};
    const PathTree tree = path_tree({*view.report, *view.profile, view.report->raw});
    return Lister(tree, toggled).take();
}

std::vector<TaskRow> task_rows(const LiveView& view, const Rates& rates) {
    std::vector<TaskRow> rows;
    if (!view.report) return rows;
    for (TaskLine& task : task_table(*view.report, *view.profile).tasks) {
        TaskRow row;
        row.task = std::move(task);
        row.name = for_cell(row.task.name);
        if (const auto now = rates.tasks.find(row.task.name); now != rates.tasks.end())
            row.now = now->second;
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TaskRow& a, const TaskRow& b) { return a.now > b.now; });
    return rows;
}

bool matches(std::string_view name, std::string_view search) {
    return !search.empty() && std::search(name.begin(), name.end(), search.begin(), search.end(),
                                          same_letter) != name.end();
}

}  // namespace nopscope::host::top
