// SPDX-License-Identifier: Apache-2.0
// The table of functions, with the distribution of each function's durations.
import { make, patch } from "./dom";
import { keyOf, percentile, type Change, type FunctionData, type View } from "./model";
import type { Which } from "./placed_call";
import { searchFor } from "./search";
import type { State } from "./state";
import { table, type Column, type Name, type Sort } from "./table";
import * as text from "./text";

// Values that all rows share.
interface All {
    share: number; // the largest of all
    first: number; // octave of the shortest duration: floor(log2(ns))
    last: number;
}

interface Entry {
    of: FunctionData;
    fn: number;
}

const plain = (all: All): Column<Entry>[] => [
    { key: "calls", head: "calls", by: ({ of }) => of.calls, cell: ({ of }) => text.count(of.calls) },
    { key: "self", head: "self", title: "in the function itself", by: ({ of }) => of.self, cell: ({ of }) => selfTime(of) },
    { key: "share", head: "share", title: "of all functions' self", by: ({ of }) => of.share, cell: ({ of }) => shareBar(of.share, all.share) },
    { key: "total", head: "total", title: "with what it calls", by: ({ of }) => of.total, cell: ({ of }) => text.time(of.total) },
    { key: "mean", head: "mean", title: "of a call", by: ({ of }) => of.mean, cell: ({ of }) => text.time(of.mean) },
];
const columns = (all: All, find: Find): Column<Entry>[] => [
    ...plain(all),
    percent("p50", "half of the calls take no longer", 0.5),
    percent("p99", "99 of 100 calls take no longer", 0.99),
    { key: "max", head: "max", title: "the longest call", by: ({ of }) => of.max, cell: ({ of, fn }) => callLink(text.time(of.max), of.max !== null && find && (() => find(fn, "longest"))) },
    { key: "bins", head: "durations", wide: true, title: "calls by duration, the same for all functions: each bar is twice as long as the one before it; height: logarithm",
        by: ({ of }) => of.bins.length || null, cell: ({ of }) => octaves(of, all) },
];

// Of a page that compares. It has no single calls.
const compared = (all: All, tested: boolean): Column<Entry>[] => [
    ...plain(all),
    { key: "before", head: "before", title: "self before the change", by: ({ of }) => of.change!.before, cell: ({ of }) => text.time(of.change!.before) },
    { key: "change", head: "change", title: "of self", by: ({ of }) => Math.abs(of.change!.ns), cell: ({ of }) => changeText(of.change!) },
    ...(tested ? [{ key: "p", head: "p", title: "the probability that chance alone makes such a change", by: ({ of }: Entry) => of.change!.p, cell: ({ of }: Entry) => of.change!.p?.toPrecision(2) ?? "–" }] : []),
];

function changeText({ before, ns }: Change): string {
    return `${ns < 0 ? "–" : "+"}${text.time(Math.abs(ns))}${before ? ` (${ns < 0 ? "–" : "+"}${text.percent(Math.abs(ns) / before)})` : ""}`;
}

// Shows a call of a function; null: the page cannot.
export type Find = ((fn: number, which: Which) => void) | null;

// A figure that leads to its call. By keyboard the function's own view leads there (calls.ts).
export function callLink(said: string, show: (() => void) | null | false): Node | string {
    if (!show) return said;
    const link = make("button", { class: "link", tabindex: "-1", title: "show this call in the timeline" }, said);
    link.onclick = (event) => {
        event.stopPropagation(); // a click on the row shows the function
        show();
    };
    return link;
}

function percent(key: string, title: string, part: number): Column<Entry> {
    return { key, head: key, title, by: ({ of }) => percentile(of, part), cell: ({ of }) => text.time(percentile(of, part)) };
}

// "~": the time may contain missing calls; the row's notes say why.
export function selfTime(of: FunctionData): string {
    return (of.doubtful ? "~" : "") + text.time(of.self);
}

export function shareBar(share: number, most: number): Node {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${most > 0 ? (share / most) * 100 : 0}%`;
    return make("span", { class: "share" }, bar, make("span", {}, text.percent(share)));
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
    const last = bins.filter(([, n]) => n > 0).pop();
    const host = make("span", { class: "histogram", role: "img", "aria-label": last ? `longest: ${text.time(last[0])} and more` : "not known" });
    const most = Math.log1p(Math.max(...bins.map(([, n]) => n), 1));
    for (const [from, n] of bins) {
        const bar = make("span", { title: `${text.count(n)} of ${text.time(from)} and more` });
        bar.style.height = `${n ? Math.max((Math.log1p(n) / most) * 100, 8) : 0}%`;
        host.append(bar);
    }
    return host;
}

export function showFunctions(host: HTMLElement, view: View, state: State, sort: Sort, chosen: (fn: number) => void, find: Find, under: (name: string) => void): void {
    const search = searchFor(state.search);
    const entries = view.functions
        .map((of, fn) => ({ of, fn }))
        .filter(({ of }) => (of.calls > 0 || of.change) && (!search.active || search.finds(of.name)));
    const name: Name<Entry> = {
        head: "function",
        key: ({ fn }) => keyOf(view, fn),
        name: ({ of }) => of.name,
        title: ({ of }) => (of.file ? `${of.file}:${of.line}` : of.address),
        more: ({ of }) => [make("span", { class: "place" }, text.place(of.file, of.line)),
            ...(of.notes.length ? [make("span", { class: "notes" }, of.notes.join(", "))] : [])],
        open: ({ fn }) => () => chosen(fn),
        select: ({ of }) => ({ title: `Select only ${of.name} and what it calls`, done: () => under(of.name) }),
    };
    const none = entries.length === 0 ? [make("p", { class: "empty" }, "The search finds no function.")] : [];
    const all = common(view.functions);
    const shown = view.compared ? compared(all, entries.some(({ of }) => typeof of.change?.p === "number")) : columns(all, find);
    patch(host, table(shown, name, entries, state.sort, sort), ...none);
}
