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

// A line of a list: cells, a name, and what follows it if the name leaves room.
struct Row {
    std::string cells;
    std::string name;
    std::string after;
};

// Adds the lines that are shown, as `row_of(number)` makes them.
template <typename RowOf>
void add_rows(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows, std::size_t width,
              RowOf row_of) {
    const std::size_t selected = lines.selected(ui);
    for (std::size_t at = ui.first; at < std::min(lines.size(ui.view), ui.first + rows); ++at) {
        const bool marked = at == selected && ui.selected.has_value();
        const Row row = row_of(at);
        FrameLine line{{first_columns(row.cells, width), marked ? Style::selected : Style::plain}};
        add_name(line, row.name, ui, marked);
        if (!row.after.empty()) line.push_back({row.after, marked ? Style::selected : Style::dim});
        if (marked) fill(line, width);
        frame.lines.push_back(std::move(line));
    }
}

std::string cells_text(const std::vector<std::string>& cells) {
    std::string text;
    for (const std::string& cell : cells) text += right(cell, cell_width) + " ";
    return text;
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
    add_rows(frame, ui, lines, rows, width, [&](std::size_t at) {
        const FunctionLine& of = lines.functions[at];
        std::vector<std::string> cells;
        for (const Column column : shown) cells.push_back(cell_of(of, column));
        Row row{cells_text(cells) + " ", short_name(of.name, room), {}};
        const std::string place = short_place(of.place);
        if (columns(row.name) + 2 + columns(place) <= room && !place.empty())
            row.after = "  " + for_cell(place);
        return row;
    });
}

void add_tree(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows, std::size_t width) {
    const std::string head = cells_text({"share", "total", "self", "calls"});
    const std::size_t room = width - std::min(width, head.size() + 1);
    frame.lines.push_back({{left(head + " call path", width), Style::head}});
    add_rows(frame, ui, lines, rows, width, [&](std::size_t at) {
        const TreeLine& of = lines.tree[at];
        // Keeps deep paths readable: an indent of more than half of the room becomes a number.
        std::string indent(2 * of.depth, ' ');
        if (indent.size() > room / 2) indent = left(fmt::format("{}", of.depth), room / 2);
        indent += !of.has_children ? "  " : of.is_open ? "- " : "+ ";
        return Row{cells_text({percent(of.share), human_ns(of.total_ns), human_ns(of.self_ns),
                               short_count(of.calls)}) +
                       " " + indent,
                   short_name(of.name, room - std::min(room, indent.size())),
                   {}};
    });
}

// Columns give way to the name from the right.
void add_tasks(Frame& frame, const Ui& ui, const Lines& lines, std::size_t rows,
               std::size_t width) {
    const auto line_of = [&](std::vector<std::string> cells) {
        const std::size_t room = width - std::min(width, least_name);
        cells.resize(std::min(cells.size(), room / (cell_width + 1)));
        return cells_text(cells) + " ";
    };
    const std::string head = line_of(
        {"now", "CPU", "share", "runs", "preempt.", "blocked", "ready", "longest", "stack"});
    const std::size_t room = width - std::min(width, head.size());
    frame.lines.push_back({{left(head + "task", width), Style::head}});
    add_rows(frame, ui, lines, rows, width, [&](std::size_t at) {
        const TaskRow& of = lines.tasks[at];
        const TaskLine& task = of.task;
        const std::string count = task.tasks > 1 ? fmt::format(" ({})", task.tasks) : "";
        return Row{
            line_of({percent(of.now), human_ns(task.cpu_ns), percent(task.share),
                     short_count(task.runs), short_count(task.count_of(protocol::Left::preempted)),
                     short_count(task.count_of(protocol::Left::blocked)), human_ns(task.ready_ns),
                     task.longest_ns != 0 ? human_ns(task.longest_ns) : "-",
                     task.stack_used != 0 && task.stack_bytes != 0
                         ? percent(static_cast<double>(task.stack_used) /
                                   static_cast<double>(task.stack_bytes))
                         : "-"}),
            short_name(of.name, room - std::min(room, count.size())), count};
    });
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
