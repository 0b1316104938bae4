// SPDX-License-Identifier: Apache-2.0
// The view of one function: its callers, its callees, and its durations.
import { showCode } from "./code";
import { callLines } from "./code_model";
import { empty, make, patch } from "./dom";
import { histogram, selfTime, type Find } from "./functions";
import { functionOf, keyOf, nameOf, percentile, type View } from "./model";
import type { Which } from "./placed_call";
import type { State } from "./state";
import { table, type Column, type Name, type Sort } from "./table";
import * as text from "./text";
import { neighbours, type Neighbour } from "./tree";

const columns: Column<Neighbour>[] = [
    { key: "calls", head: "calls", by: (of) => of.calls, cell: (of) => text.count(of.calls) },
    { key: "total", head: "total", title: "with what it calls", by: (of) => of.total, cell: (of) => text.time(of.total) },
];
let drawn = 0; // how often code was drawn

export function showCalls(host: HTMLElement, view: View, state: State, change: (by: Partial<State>) => void, chosen: (fn: number) => void, find: Find, under: (name: string) => void): void {
    const fn = functionOf(view, state.fn);
    if (fn < 0) {
        empty(host, "Choose a function: a row of the table, or a frame by double-click.");
        return;
    }
    const of = view.functions[fn];
    const { callers, callees } = neighbours(view.paths, fn);
    const facts = [
        ["calls", text.count(of.calls)],
        ["self", `${selfTime(of)} (${text.percent(of.share)})`],
        ["total", text.time(of.total)],
        ["shortest", text.time(of.min)],
        ["mean", text.time(of.mean)],
        ["p50", text.time(percentile(of, 0.5))],
        ["p99", text.time(percentile(of, 0.99))],
        ["longest", text.time(of.max)],
    ];
    const list = make("dl", { class: "facts" });
    for (const [name, value] of facts) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    const buttons = make("div", { class: "tools" });
    const shown: [string, Which, boolean][] = [["First call", "next", of.calls > 0], ["Shortest call", "shortest", of.min !== null], ["Longest call", "longest", of.max !== null]];
    for (const [name, which, exists] of find ? shown : []) {
        if (!exists) continue;
        const button = make("button", { title: "show it in the timeline" }, name);
        button.onclick = () => find!(fn, which);
        buttons.append(button);
    }
    const big = make("div", { class: "big" }, histogram(of.bins));
    const select = make("button", { class: "selects", title: "All tabs show only its calls and the calls inside" }, "Select what it calls");
    select.onclick = () => under(of.name);
    // A running target's page has neither. The links act on elements of this `div`. So each one has
    // a new key, and patch() replaces it instead of changing it.
    const code = view.code || view.timeline ? [make("div", { "data-key": `code ${++drawn}` }, ...showCode(view, fn, chosen))] : [];
    patch(host,
        make("h2", {}, of.name, make("span", { class: "place", title: of.file }, text.place(of.file, of.line)), select),
        list,
        ...(buttons.hasChildNodes() ? [buttons] : []),
        ...(of.bins.length ? [big, axis(of.bins)] : []),
        make("div", { class: "sides" },
            side(view, "Called by", "outermost: nothing that was recorded calls it",
                callers, state.callersort, (callersort) => change({ callersort }), chosen, (other) => linesOf(view, other, fn)),
            side(view, "Calls", "nothing that was recorded",
                callees, state.calleesort, (calleesort) => change({ calleesort }), chosen, (other) => linesOf(view, fn, other))),
        ...code,
    );
}

// The lines where `caller` calls `callee` directly, if the page has the caller's instructions.
function linesOf(view: View, caller: number, callee: number): string {
    const code = view.code?.functions.find((one) => one.function === caller);
    const lines = code && callLines(code).get(callee);
    if (!lines?.length) return "";
    const places = [...lines].sort((a, b) => a.file - b.file || a.line - b.line).slice(0, 8);
    const said = places.map(({ file, line }, i) => (i > 0 && places[i - 1].file === file ? String(line) : text.place(view.code!.files[file], line)));
    return `at ${said.join(", ")}${lines.length > places.length ? `, and ${lines.length - places.length} more` : ""}`;
}

function axis(bins: [number, number][]): Node {
    const last = bins[bins.length - 1][0];
    return make("div", { class: "axis" }, make("span", {}, text.time(bins[0][0])), make("span", {}, `${text.time(last)} and more`));
}

function side(view: View, title: string, none: string, of: Neighbour[], order: string, sort: Sort, chosen: (fn: number) => void, where: (fn: number) => string): Node {
    const name: Name<Neighbour> = {
        head: "function",
        key: ({ fn }) => keyOf(view, fn),
        name: ({ fn }) => (fn === -1 ? none : nameOf(view, fn)),
        more: ({ fn }) => {
            const lines = fn >= 0 ? where(fn) : "";
            return lines ? [make("span", { class: "place" }, lines)] : [];
        },
        open: ({ fn }) => (fn >= 0 ? () => chosen(fn) : null),
    };
    const shown = of.length ? table(columns, name, of, order, sort) : make("p", { class: "empty" }, none);
    return make("section", {}, make("h3", {}, title), shown);
}
