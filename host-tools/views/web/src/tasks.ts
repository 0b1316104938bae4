// SPDX-License-Identifier: Apache-2.0
// The table of tasks, and how idle each core was.
import { make, patch } from "./dom";
import { heads, shareBar, type Column } from "./functions";
import { contains, type TaskData, type View } from "./model";
import type { State } from "./state";
import * as text from "./text";

interface All {
    share: number; // the largest of all
}

const used = (of: TaskData) => (of.stack_used !== null && of.stack_bytes !== null ? of.stack_used / of.stack_bytes : -1);
const counts = (key: "runs" | "preempted" | "blocked" | "gave_way", head: string, title: string): Column<TaskData, All> =>
    ({ key, head, title, by: (of) => of[key], cell: (of) => text.count(of[key]) });
const times = (key: "ready_ns" | "blocked_ns", head: string, title: string): Column<TaskData, All> =>
    ({ key, head, title, by: (of) => of[key], cell: (of) => text.time(of[key]) });

const columns: Column<TaskData, All>[] = [
    { key: "cpu", head: "CPU", title: "how long it ran", by: (of) => of.cpu_ns, cell: (of) => text.time(of.cpu_ns) },
    { key: "task share", head: "share", title: "of the CPU time of all", by: (of) => of.share, cell: (of, all) => shareBar(of.share, all.share) },
    counts("runs", "runs", "how often a core began to run it"),
    counts("preempted", "preempted", "how often a core left it because another task took over"),
    counts("blocked", "blocked", "how often a core left it because it waited for something"),
    counts("gave_way", "gave way", "how often it left the core to others"),
    times("ready_ns", "ready for", "how long it waited for a core"),
    { key: "longest", head: "longest", title: "the longest wait for a core", by: (of) => of.longest_wait?.ns ?? -1, cell: (of) => text.time(of.longest_wait?.ns ?? null) },
    times("blocked_ns", "blocked for", "how long it waited for something else"),
    { key: "stack", head: "stack", title: "bytes used, of the task that used the largest part", by: used,
        cell: (of) => (used(of) < 0 ? "–" : `${text.count(of.stack_used!)} of ${text.count(of.stack_bytes!)}`) },
];

function notes(of: TaskData): string[] {
    const list = of.waited_for.map((object) => `waited ${text.count(object.waits)} times for ${object.name}, ${text.time(object.blocked_ns)}`);
    if (of.longest_wait?.behind) list.unshift(`longest behind ${of.longest_wait.behind} on core ${of.longest_wait.core}`);
    return list;
}

export function showTasks(host: HTMLElement, view: View, state: State, sort: (key: string) => void): void {
    const { tasks, cores } = view.tasks!;
    const by = columns.find((column) => column.key === state.sort) ?? columns[0];
    const rows = tasks.filter((of) => contains(of.name, state.search)).sort((a, b) => by.by(b) - by.by(a));
    const all = { share: tasks.reduce((most, of) => Math.max(most, of.share), 0) };
    const body = make("tbody");
    for (const of of rows) {
        const row = make("tr", { "data-key": of.name });
        for (const column of columns) row.append(make("td", {}, column.cell(of, all)));
        const name = make("td", { class: "name" }, of.name);
        const facts = [of.tasks > 1 ? `${text.count(of.tasks)} tasks` : "", of.priority === null ? "" : `priority ${of.priority}`];
        name.append(make("span", { class: "place" }, facts.filter((fact) => fact !== "").join(", ")));
        const more = notes(of);
        if (more.length) name.append(make("span", { class: "notes" }, more.join("; ")));
        row.append(name);
        body.append(row);
    }
    const idle = cores.map((core) =>
        make("p", { class: "empty" }, `core ${core.core}: ${text.percent(core.cpu_ns ? core.idle_ns / core.cpu_ns : 0)} idle of ${text.time(core.cpu_ns)}`));
    const none = rows.length === 0 ? [make("p", { class: "empty" }, "No task's name contains that.")] : [];
    patch(host, make("table", {}, make("thead", {}, heads(columns, by, sort, "task")), body), ...none, ...idle);
}
