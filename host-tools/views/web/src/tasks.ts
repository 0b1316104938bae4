// SPDX-License-Identifier: Apache-2.0
// The table of tasks, and how idle each core was.
import { make, patch } from "./dom";
import { shareBar } from "./functions";
import type { TaskData, View } from "./model";
import { searchFor } from "./search";
import { ofTask } from "./selection";
import type { State } from "./state";
import { table, type Column, type Name, type Sort } from "./table";
import * as text from "./text";

const used = (of: TaskData) => (of.stack_used !== null && of.stack_bytes !== null ? of.stack_used / of.stack_bytes : null);
const counts = (key: "runs" | "preempted" | "blocked" | "gave_way", head: string, title: string): Column<TaskData> =>
    ({ key, head, title, by: (of) => of[key], cell: (of) => text.count(of[key]) });
const times = (key: "cpu_ns" | "ready_ns" | "blocked_ns", head: string, title: string): Column<TaskData> =>
    ({ key, head, title, by: (of) => of[key], cell: (of) => text.time(of[key]) });

const columns = (most: number): Column<TaskData>[] => [
    times("cpu_ns", "CPU", "how long it ran"),
    { key: "share", head: "share", title: "of the CPU time of all", by: (of) => of.share, cell: (of) => shareBar(of.share, most) },
    counts("runs", "runs", "how often a core began to run it"),
    counts("preempted", "preempted", "how often a core left it because another task took over"),
    counts("blocked", "blocked", "how often a core left it because it waited for something"),
    counts("gave_way", "gave way", "how often it left the core to others"),
    times("ready_ns", "ready for", "how long it waited for a core"),
    { key: "longest", head: "longest", title: "the longest wait for a core", by: (of) => of.longest_wait?.ns ?? null, cell: (of) => text.time(of.longest_wait?.ns ?? null) },
    times("blocked_ns", "blocked for", "how long it waited for something else"),
    { key: "stack", head: "stack", wide: true, title: "bytes used, of the task that used the largest part", by: used,
        cell: (of) => (used(of) === null ? "–" : `${text.count(of.stack_used!)} of ${text.count(of.stack_bytes!)}`) },
];

function notes(of: TaskData): string[] {
    const list = of.waited_for.map((object) => `waited ${text.count(object.waits)} times for ${object.name}, ${text.time(object.blocked_ns)}`);
    if (of.longest_wait?.behind) list.unshift(`longest behind ${of.longest_wait.behind} on core ${of.longest_wait.core}`);
    return list;
}

function more(of: TaskData): Node[] {
    const facts = [of.tasks > 1 ? `${text.count(of.tasks)} tasks` : "", of.priority === null ? "" : `priority ${of.priority}`];
    const said = notes(of);
    return [make("span", { class: "place" }, facts.filter((fact) => fact !== "").join(", ")),
        ...(said.length ? [make("span", { class: "notes" }, said.join("; "))] : [])];
}

export function showTasks(host: HTMLElement, view: View, state: State, sort: Sort, select: (by: Partial<State>) => void): void {
    const { tasks, cores } = view.tasks!;
    const search = searchFor(state.search);
    const rows = tasks.filter((of) => !search.active || search.finds(of.name));
    const name: Name<TaskData> = { head: "task", key: (of) => of.name, name: (of) => of.name, more,
        select: (of) => {
            const by = ofTask(of.name);
            return by && { title: `Select only what ${of.name} did`, done: () => select(by) };
        } };
    const idle = cores.map((core) =>
        make("p", { class: "empty" }, `core ${core.core}: ${text.percent(core.cpu_ns ? core.idle_ns / core.cpu_ns : 0)} idle of ${text.time(core.cpu_ns)}`));
    const none = rows.length === 0 ? [make("p", { class: "empty" }, "The search finds no task.")] : [];
    const most = tasks.reduce((most, of) => Math.max(most, of.share), 0);
    patch(host, table(columns(most), name, rows, state.tasksort, sort), ...none, ...idle);
}
