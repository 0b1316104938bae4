// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/text.hpp"
#include "host-tools/views/text/table.hpp"
#include "host-tools/views/top/text.hpp"

namespace nopscope::host::top {
namespace {

constexpr std::size_t cell_width = 8;  // of a number; two cells have a space between them
constexpr std::size_t least_name = 24;

std::string cell_of(const FunctionLine& line, Column column) {
    const auto time = [](const std::optional<std::uint64_t>& ns) {
        return ns ? human_ns(*ns) : std::string("-");
    };
    switch (column) {
    case Column::now: return percent(line.now);
    case Column::rate: return short_count(line.calls_per_second);
    case Column::calls: return short_count(line.calls);
    case Column::self: return (line.doubtful ? "~" : "") + human_ns(line.self_ns);
    case Column::total: return human_ns(line.total_ns);
    case Column::share: return percent(line.share);
    case Column::p50: return time(line.p50_ns);
    case Column::p99: return time(line.p99_ns);
    case Column::name: break;
    }
    return {};
}

// As many columns as leave room for a name; always the one that sorts the list.
std::vector<Column> shown_columns(const Ui& ui, std::size_t width) {
    std::vector<Column> shown;
    std::size_t room = width > least_name ? (width - least_name) / (cell_width + 1) : 0;
    const bool own_cell = ui.sort != Column::name;
    if (own_cell && room > 0) --room;
    for (const Column column : all_columns) {
        if (column == Column::name) continue;
        if (column == ui.sort) {
            shown.push_back(column);
        } else if (room > 0) {
            shown.push_back(column);
            --room;
        }
    }
    return shown;
}

// Adds a name, and marks the part that the search has found.
void add_name(FrameLine& to, const std::string& name, const Ui& ui, bool selected) {
    const Style style = selected ? Style::selected : Style::plain;
    if (!matches(name, ui.search)) return to.push_back({name, style});
    for (std::size_t at = 0; at + ui.search.size() <= name.size(); ++at) {
        if (!matches(std::string_view(name).substr(at, ui.search.size()), ui.search)) continue;
        to.push_back({name.substr(0, at), style});
        to.push_back({name.substr(at, ui.search.size()), Style::match});
        return to.push_back({name.substr(at + ui.search.size()), style});
    }
}

// Extends a selected line to the screen's width.
void fill(FrameLine& line, std::size_t width) {
    std::size_t has = 0;
    for (const Span& span : line) has += columns(span.text);
    if (has < width) line.push_back({std::string(width - has, ' '), Style::selected});
}

void add_functions(Frame& frame, Ui& ui, const Lines& lines, std::size_t rows, std::size_t width) {
    const std::vector<Column> shown = shown_columns(ui, width);
    FrameLine head;
    for (const Column column : shown) {
        head.push_back({right(head_of(column), cell_width) + " ",
                        column == ui.sort ? Style::sorted : Style::head});
        ui.head_ends.push_back({head.size() * (cell_width + 1), column});
    }
    ui.head_ends.push_back({width, Column::name});
    const std::size_t before = shown.size() * (cell_width + 1);
    const std::size_t room = width - std::min(width, before + 1);
    const std::string order = ui.reversed ? "function  (reversed)" : "function";
    head.push_back(
        {left(" " + order, room + 1), ui.sort == Column::name ? Style::sorted : Style::head});
    frame.lines.push_back(std::move(head));
    const std::size_t selected = lines.selected(ui);
    for (std::size_t at = ui.first; at < lines.functions.size() && at < ui.first + rows; ++at) {
        const FunctionLine& of = lines.functions[at];
        const bool marked = at == selected && ui.selected.has_value();
        FrameLine line;
        std::string cells;
        for (const Column column : shown) cells += right(cell_of(of, column), cell_width) + " ";
        const Style style = marked ? Style::selected : Style::plain;
        line.push_back({first_columns(cells + " ", width), style});
        const std::string name = short_name(of.name, room);
        add_name(line, name, ui, marked);
        const std::string place = short_place(of.place);
        if (columns(name) + 2 + columns(place) <= room && !place.empty()) {
            line.push_back({"  " + for_cell(place), marked ? Style::selected : Style::dim});
        }
        if (marked) fill(line, width);
        frame.lines.push_back(std::move(line));
    }
}

void add_tree(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows, std::size_t width) {
    std::string head;
    for (const char* each : {"share", "total", "self", "calls"})
        head += right(each, cell_width) + " ";
    const std::size_t room = width - std::min(width, head.size() + 1);
    frame.lines.push_back({{left(head + " call path", width), Style::head}});
    const std::size_t selected = lines.selected(ui);
    for (std::size_t at = ui.first; at < lines.tree.size() && at < ui.first + rows; ++at) {
        const TreeLine& of = lines.tree[at];
        const bool marked = at == selected && ui.selected.has_value();
        std::string cells;
        for (const std::string& each : {percent(of.share), human_ns(of.total_ns),
                                        human_ns(of.self_ns), short_count(of.calls)}) {
            cells += right(each, cell_width);
            cells += ' ';
        }
        // Keeps deep paths readable: an indent of more than half of the room becomes a number.
        std::string indent(2 * of.depth, ' ');
        if (indent.size() > room / 2) indent = left(fmt::format("{}", of.depth), room / 2);
        indent += !of.has_children ? "  " : of.is_open ? "- " : "+ ";
        FrameLine line;
        line.push_back(
            {first_columns(cells + " " + indent, width), marked ? Style::selected : Style::plain});
        add_name(line, short_name(of.name, room - std::min(room, indent.size())), ui, marked);
        if (marked) fill(line, width);
        frame.lines.push_back(std::move(line));
    }
}

// Columns give way to the name from the right.
void add_tasks(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows,
               std::size_t width) {
    const auto line_of = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (const std::string& cell : cells) {
            if (line.size() + cell_width + 1 + least_name > width) break;
            line += right(cell, cell_width) + " ";
        }
        return line + " ";
    };
    const std::string head = line_of(
        {"now", "CPU", "share", "runs", "preempt.", "blocked", "ready", "longest", "stack"});
    const std::size_t room = width - std::min(width, head.size());
    frame.lines.push_back({{left(head + "task", width), Style::head}});
    const std::size_t selected = lines.selected(ui);
    for (std::size_t at = ui.first; at < lines.tasks.size() && at < ui.first + rows; ++at) {
        const TaskRow& of = lines.tasks[at];
        const TaskLine& task = of.task;
        const bool marked = at == selected && ui.selected.has_value();
        const std::string cells =
            line_of({percent(of.now), human_ns(task.cpu_ns), percent(task.share),
                     short_count(task.runs), short_count(task.count_of(protocol::Left::preempted)),
                     short_count(task.count_of(protocol::Left::blocked)), human_ns(task.ready_ns),
                     task.longest_ns != 0 ? human_ns(task.longest_ns) : "-",
                     task.stack_used != 0 && task.stack_bytes != 0
                         ? percent(static_cast<double>(task.stack_used) /
                                   static_cast<double>(task.stack_bytes))
                         : "-"});
        FrameLine line{{first_columns(cells, width), marked ? Style::selected : Style::plain}};
        const std::string count = task.tasks > 1 ? fmt::format(" ({})", task.tasks) : "";
        add_name(line, short_name(of.name, room - std::min(room, count.size())), ui, marked);
        line.push_back({count, marked ? Style::selected : Style::dim});
        if (marked) fill(line, width);
        frame.lines.push_back(std::move(line));
    }
    if (lines.tasks.empty())
        frame.lines.push_back({{"the target has told of no task yet", Style::dim}});
}

}  // namespace

void add_list(Frame& frame, Ui& ui, const Lines& lines, std::size_t rows, std::size_t width) {
    ui.head_row = frame.lines.size();
    if (ui.view == View::tree) return add_tree(frame, ui, lines, rows, width);
    if (ui.view == View::tasks) return add_tasks(frame, ui, lines, rows, width);
    add_functions(frame, ui, lines, rows, width);
}

}  // namespace nopscope::host::top
