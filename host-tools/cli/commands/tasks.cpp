// SPDX-License-Identifier: Apache-2.0
// `tasks` shows where the cores' time went, by task, and what tasks waited for.
#include <algorithm>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/figures/report/task_table.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/report.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

// What a task has of each; null: its name.
using Order = std::uint64_t TaskLine::*;
const std::map<std::string, Order> orders{
    {"cpu", &TaskLine::cpu_ns},         {"ready", &TaskLine::ready_ns},
    {"longest", &TaskLine::longest_ns}, {"blocked", &TaskLine::blocked_ns},
    {"runs", &TaskLine::runs},          {"name", nullptr}};

struct TasksOptions : ReportOptions {
    std::vector<std::string> idle = TaskTableOptions{}.idle;
    Order order = &TaskLine::cpu_ns;
    std::size_t top = 0;
    bool each = false;
};

void sort_lines(std::vector<TaskLine>& lines, Order order) {
    std::stable_sort(lines.begin(), lines.end(), [order](const TaskLine& a, const TaskLine& b) {
        return order == nullptr ? a.name < b.name : a.*order > b.*order;
    });
}

std::string waited_for(const TaskLine& line) {
    std::vector<std::string> texts;
    for (const WaitedFor& object : line.waited_for) {
        texts.push_back(fmt::format("{} ({} times, {})", object.name, with_commas(object.waits),
                                    human_ns(object.blocked_ns)));
    }
    return some_of(texts, 2);
}

// The time of the calls' recording, which is in the tasks' times, and not in the functions'.
std::uint64_t overhead_ns(const Report& report) {
    std::uint64_t ns = 0;
    for (const FunctionRow& row : report.functions)
        ns += not_negative(row.self_ns - row.corrected.self_ns);
    return ns;
}

std::string text(const Report& report, const TaskTable& table_of_tasks) {
    std::vector<Line> lines{{"CPU", "share", "runs", "preempted", "blocked", "gave way",
                             "ready for", "longest", "behind", "blocked for", "stack", "prio",
                             "task", "waited for"}};
    for (const TaskLine& line : table_of_tasks.tasks) {
        const auto left = [&](protocol::Left how) { return with_commas(line.count_of(how)); };
        lines.push_back(
            {human_ns(line.cpu_ns), fmt::format("{:.1f} %", line.share * 100),
             with_commas(line.runs), left(protocol::Left::preempted), left(protocol::Left::blocked),
             left(protocol::Left::gave_way), human_ns(line.ready_ns),
             line.longest_ns != 0 ? human_ns(line.longest_ns) : "-",
             line.behind ? for_cell(*line.behind) : "-", human_ns(line.blocked_ns),
             line.stack_bytes != 0 && line.stack_used != 0
                 ? fmt::format("{} of {}", with_commas(line.stack_used),
                               with_commas(line.stack_bytes))
                 : "-",
             line.priority ? std::to_string(*line.priority) : "-",
             for_cell(line.name) + (line.tasks > 1 ? fmt::format(" ({})", line.tasks) : ""),
             waited_for(line)});
    }
    std::string out = recorded_text(report) + "\n";
    if (const std::uint64_t overhead = overhead_ns(report); overhead != 0) {
        out += fmt::format(
            "times are as recorded: recording the calls took {} of them, which "
            "`nopscope report` takes off\n",
            human_ns(overhead));
    }
    out += "\n" + table(lines) + "\n";
    for (const CoreLine& core : table_of_tasks.cores) {
        out += fmt::format("core {}: {:.1f} % idle of {}\n", core.core,
                           core.cpu_ns == 0 ? 0.0
                                            : 100.0 * static_cast<double>(core.idle_ns) /
                                                  static_cast<double>(core.cpu_ns),
                           human_ns(core.cpu_ns));
    }
    return out + "\n" + others_line(report) + integrity_line(report.integrity) + "\n";
}

Json json(const Report& report, const TaskTable& table_of_tasks) {
    Json json = json_tasks(table_of_tasks);
    json.update({{"duration_ns", report.duration_ns},
                 {"overhead_ns", overhead_ns(report)},
                 {"integrity", json_integrity(report.integrity)}});
    return json;
}

std::string csv(const TaskTable& table_of_tasks) {
    std::string out =
        "task,tasks,priority,idle,cpu_ns,share,runs,preempted,blocked,gave_way,ended,unknown,"
        "ready_ns,blocked_ns,longest_wait_ns,longest_wait_end_ns,longest_wait_core,behind,"
        "stack_bytes,stack_used\n";
    for (const TaskLine& line : table_of_tasks.tasks) {
        const Json json = json_task(line);
        out += csv_cell(line.name) +
               csv_cells(
                   "tasks,priority,idle,cpu_ns,share,runs,preempted,blocked,gave_way,ended,unknown,"
                   "ready_ns,blocked_ns",
                   json) +
               csv_cells("ns,end_ns,core", json["longest_wait"]) + "," +
               csv_cell(line.behind.value_or("")) + csv_cells("stack_bytes,stack_used", json) +
               "\n";
    }
    return out;
}

Exit tasks(const TasksOptions& options) {
    const Loaded loaded = load(options);
    TaskTable table_of_tasks =
        task_table(loaded.report, *loaded.profile,
                   {.idle = options.idle, .only = options.part.task, .each = options.each});
    sort_lines(table_of_tasks.tasks, options.order);
    if (options.top != 0 && table_of_tasks.tasks.size() > options.top)
        table_of_tasks.tasks.resize(options.top);
    switch (options.format) {
    case Format::text: print(text(loaded.report, table_of_tasks)); break;
    case Format::json: print(json_text(json(loaded.report, table_of_tasks))); break;
    case Format::csv: print(csv(table_of_tasks)); break;
    }
    return Exit::ok;
}

}  // namespace

Action add_tasks(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<TasksOptions>();
    command = add_command(app, "tasks", "Show each task's CPU time, switches and waits",
                          {"nopscope tasks run.nsc", "nopscope tasks run.nsc --sort longest"});
    add_recording(command, *options);
    add_choice(command, "--format", options->format, formats, "Output");
    add_choice(command, "--sort", options->order, orders, "Order, largest first (cpu)");
    add_count(command, "--top", options->top, 1, most_rows, "Only the first so many tasks");
    command->add_flag("--each", options->each, "A line for each task, also of the same name");
    add_value(command, "--idle", options->idle, kind::glob,
              "Tasks that run when there is nothing to do, globs (*idle* *IDLE* *Idle*)");
    return [options] { return tasks(*options); };
}

}  // namespace nopscope::host
