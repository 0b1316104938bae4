// SPDX-License-Identifier: Apache-2.0
// The rows of `top`: functions and the call tree of one view, with rates since the view before.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/figures/report/task_table.hpp"
#include "host-tools/live/rates.hpp"

namespace nopscope::host::top {

enum class Column : std::uint8_t { now, rate, calls, self, total, share, p50, p99, name };
inline constexpr Column all_columns[] = {Column::now,  Column::rate,  Column::calls,
                                         Column::self, Column::total, Column::share,
                                         Column::p50,  Column::p99,   Column::name};
const char* head_of(Column column);  // "calls/s"
// Finds a column by its head, ignoring case. Throws Error (Exit::usage).
Column column_named(std::string_view head);

struct FunctionLine {
    FunctionPlace place;
    std::string name;  // safe for a cell
    double now = 0;    // share of all functions' self time since the view before, 0..1
    double calls_per_second = 0;
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    bool doubtful = false;  // self_ns may contain calls that are missing
    double share = 0;
    std::optional<std::uint64_t> p50_ns;  // upper ends of bins; nothing: no whole call was seen
    std::optional<std::uint64_t> p99_ns;
    std::uint64_t open = 0;
};

struct TreeLine {
    std::uint64_t key = 0;  // of its path, the same in each view
    std::string name;
    unsigned depth = 0;
    bool has_children = false;
    bool is_open = false;
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    double share = 0;  // of the total of all outermost paths
};

struct TaskRow {
    TaskLine task;
    std::string name;  // safe for a cell
    double now = 0;    // share of the time of all cores since the view before, 0..1
};

// From the trace, or from the target's profile for a function without a call in the trace.
std::vector<FunctionLine> function_lines(const LiveView& view, const Rates& rates);
// Sorts by the column, largest first (names from A on), then by name.
void sort_lines(std::vector<FunctionLine>& lines, Column by, bool reversed);

// Depth first, the longest path first. Lists the paths below an open path only. A path with at
// least a hundredth of all time is open, others are closed; `toggled` reverses this.
std::vector<TreeLine> tree_lines(const LiveView& view, const std::set<std::uint64_t>& toggled);

// Those that ran most since the view before come first, then by CPU time.
std::vector<TaskRow> task_rows(const LiveView& view, const Rates& rates);

// True if `name` contains `search`, ignoring case.
bool matches(std::string_view name, std::string_view search);

}  // namespace nopscope::host::top
