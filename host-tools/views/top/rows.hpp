// SPDX-License-Identifier: Apache-2.0
// What `top` lists: functions, and the call tree, of one look and of what came since the one before.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/live/rates.hpp"

namespace nopscope::host::top {

enum class Column : std::uint8_t { now, rate, calls, self, total, share, p50, p99, name };
inline constexpr Column all_columns[] = {Column::now,   Column::rate,  Column::calls, Column::self, Column::total,
                                         Column::share, Column::p50,   Column::p99,   Column::name};
const char* head_of(Column column);  // "calls/s"
// By its head, without regard for case. Throws Error, Exit::usage.
Column column_named(std::string_view head);

struct FunctionLine {
    FunctionPlace place;
    std::string name;  // fit for a cell
    double now = 0;    // of all functions' self time since the look before, 0..1
    double calls_per_second = 0;
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    bool doubtful = false;  // self_ns may contain calls that are missing
    double share = 0;
    std::optional<std::uint64_t> p50_ns;  // upper ends of bins; nothing: no call was seen from begin to end
    std::optional<std::uint64_t> p99_ns;
    std::uint64_t open = 0;
};

struct TreeLine {
    std::uint64_t key = 0;  // of its path, the same in each look
    std::string name;
    unsigned depth = 0;
    bool has_children = false;
    bool is_open = false;
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t total_ns = 0;
    double share = 0;  // total of all outermost paths'
};

// Of the trace; of the target's profile where a function has no call in the trace.
std::vector<FunctionLine> function_lines(const LiveView& view, const Rates& rates);
// By the column, largest first (names: from A on); then by name.
void sort_lines(std::vector<FunctionLine>& lines, Column by, bool reversed);

// Depth first, the longest first; below a path that is not open nothing is listed. Those with a hundredth of all
// time and more are, others are not; `toggled` ones are the other way round.
std::vector<TreeLine> tree_lines(const LiveView& view, const std::set<std::uint64_t>& toggled);

// Whether the name has it in it, without regard for case.
bool matches(std::string_view name, std::string_view search);

}  // namespace nopscope::host::top
