// SPDX-License-Identifier: Apache-2.0
// The table of functions, with the distribution of each function's durations.
import { make, patch } from "./dom";
import { contains, keyOf, percentile, type FunctionData, type View } from "./model";
import type { State } from "./state";
import * as text from "./text";

// Values that all rows share.
interface All {
    share: number; // the largest of all
    first: number; // octave of the shortest duration: floor(log2(ns))
    last: number;
}

export interface Column<Row, All> {
    key: string;
    head: string;
    title: string;
    by: (of: Row) => number; // larger ones first
    cell: (of: Row, all: All) => Node | string;
}

const columns: Column<FunctionData, All>[] = [
    { key: "calls", head: "calls", title: "", by: (f) => f.calls, cell: (f) => text.count(f.calls) },
    { key: "self", head: "self", title: "in the function itself", by: (f) => f.self, cell: (f) => selfTime(f) },
    { key: "share", head: "share", title: "of all functions' self", by: (f) => f.share, cell: (f, all) => shareBar(f.share, all.share) },
    { key: "total", head: "total", title: "with what it calls", by: (f) => f.total, cell: (f) => text.time(f.total) },
    { key: "mean", head: "mean", title: "of a call", by: (f) => f.mean ?? -1, cell: (f) => text.time(f.mean) },
    { key: "p50", head: "p50", title: "half of the calls take no longer", by: (f) => percentile(f, 0.5) ?? -1, cell: (f) => text.time(percentile(f, 0.5)) },
    { key: "p99", head: "p99", title: "99 of 100 calls take no longer", by: (f) => percentile(f, 0.99) ?? -1, cell: (f) => text.time(percentile(f, 0.99)) },
    { key: "max", head: "max", title: "the longest call", by: (f) => f.max ?? -1, cell: (f) => text.time(f.max) },
    { key: "bins", head: "durations", title: "calls by duration, the same for all functions: each bar is twice as long as the one before it; height: logarithm", by: (f) => f.bins.length, cell: (f, all) => octaves(f, all) },
];

// "~": the time may contain missing calls; the row's notes say why.
export function selfTime(of: FunctionData): string {
    return (of.doubtful ? "~" : "") + text.time(of.self);
}

export function shareBar(share: number, most: number): Node {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${most > 0 ? (share / most) * 100 : 0}%`;
    return make("span", { class: "share" }, bar, make("span", {}, text.percent(share)));
}

// The head of a table; each column's button sorts by it.
export function heads<Row, All>(columns: Column<Row, All>[], by: Column<Row, All>, sort: (key: string) => void, name: string): HTMLElement {
    const head = make("tr");
    for (const column of columns) {
        const button = make("button", { title: column.title }, column.head);
        button.onclick = () => sort(column.key);
        head.append(make("th", { "aria-sort": column === by ? "descending" : "none" }, button));
    }
    head.append(make("th", { class: "name" }, name));
    return head;
}

function octave(ns: number): number {
    return ns < 1 ? -1 : Math.floor(Math.log2(ns));
}

function common(functions: FunctionData[]): All {
    const starts = functions.flatMap((of) => of.bins.map(([from]) => octave(from)));
    return {
        share: functions.reduce((most, of) => Math.max(most, of.share), 0),
        first: starts.reduce((least, at) => Math.min(least, at), Infinity),
        last: starts.reduce((most, at) => Math.max(most, at), -Infinity),
    };
}

// A small histogram, with the same scale in all rows.
function octaves(of: FunctionData, all: All): Node {
    const bins = new Map<number, number>();
    for (const [from, n] of of.bins) bins.set(octave(from), (bins.get(octave(from)) ?? 0) + n);
    const list: [number, number][] = [];
    for (let at = all.first; at <= all.last; ++at) list.push([at < 0 ? 0 : 2 ** at, bins.get(at) ?? 0]);
    return histogram(list);
}

export function histogram(bins: [number, number][]): Node {
    const host = make("span", { class: "histogram" });
    const most = Math.log1p(Math.max(...bins.map(([, n]) => n), 1));
    for (const [from, n] of bins) {
        const bar = make("span", { title: `${text.count(n)} of ${text.time(from)} and more` });
        bar.style.height = `${n ? Math.max((Math.log1p(n) / most) * 100, 8) : 0}%`;
        host.append(bar);
    }
    return host;
}

export function matches(of: FunctionData, search: string): boolean {
    return contains(of.name, search);
}

export function showFunctions(host: HTMLElement, view: View, state: State, sort: (key: string) => void, chosen: (fn: number) => void): void {
    const by = columns.find((column) => column.key === state.sort) ?? columns[1];
    const rows = view.functions
        .map((of, fn) => ({ of, fn }))
        .filter(({ of }) => of.calls > 0 && matches(of, state.search))
        .sort((a, b) => by.by(b.of) - by.by(a.of) || (a.of.name < b.of.name ? -1 : 1));
    const all = common(view.functions);
    const body = make("tbody");
    for (const { of, fn } of rows) {
        const row = make("tr", { tabindex: "0", "data-key": keyOf(view, fn) });
        for (const column of columns) row.append(make("td", {}, column.cell(of, all)));
        const where = make("span", { class: "place" }, text.place(of.file, of.line));
        const name = make("td", { class: "name", title: of.file ? `${of.file}:${of.line}` : of.address }, of.name, where);
        if (of.notes.length) name.append(make("span", { class: "notes" }, of.notes.join(", ")));
        row.append(name);
        row.onclick = () => chosen(fn);
        row.onkeydown = (event) => event.key === "Enter" && chosen(fn);
        body.append(row);
    }
    const none = rows.length === 0 ? [make("p", { class: "empty" }, "No function's name contains that.")] : [];
    patch(host, make("table", {}, make("thead", {}, heads(columns, by, sort, "function")), body), ...none);
}
