// SPDX-License-Identifier: Apache-2.0
// The view of one function: its callers, its callees, and its durations.
import { showCode } from "./code";
import { callLines } from "./code_model";
import { empty, make, patch } from "./dom";
import { histogram, selfTime } from "./functions";
import { keyOf, nameOf, percentile, type View } from "./model";
import * as text from "./text";
import { neighbours, type Neighbour } from "./tree";

let drawn = 0; // how often code was drawn

export function showCalls(host: HTMLElement, view: View, fn: number, chosen: (fn: number) => void): void {
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
    const big = make("div", { class: "big" }, histogram(of.bins));
    // A running target's page has neither. The links act on elements of this `div`. So each one has
    // a new key, and patch() replaces it instead of changing it.
    const code = view.code || view.timeline ? [make("div", { "data-key": `code ${++drawn}` }, ...showCode(view, fn, chosen))] : [];
    patch(host,
        make("h2", {}, of.name, make("span", { class: "place", title: of.file }, text.place(of.file, of.line))),
        list,
        ...(of.bins.length ? [big, axis(of.bins)] : []),
        make("div", { class: "sides" },
            side(view, "Called by", "outermost: nothing that was recorded calls it", callers, chosen, (other) => linesOf(view, other, fn)),
            side(view, "Calls", "nothing that was recorded", callees, chosen, (other) => linesOf(view, fn, other))),
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

function side(view: View, title: string, none: string, of: Neighbour[], chosen: (fn: number) => void, where: (fn: number) => string): Node {
    const body = make("tbody");
    for (const one of of) {
        const name = one.fn === -1 ? none : nameOf(view, one.fn);
        const row = make("tr", { "data-key": keyOf(view, one.fn) }, make("td", {}, text.count(one.calls)), make("td", {}, text.time(one.total)), make("td", { class: "name" }, name));
        const lines = one.fn >= 0 ? where(one.fn) : "";
        if (lines) row.lastElementChild!.append(make("span", { class: "place" }, lines));
        if (one.fn >= 0) {
            row.tabIndex = 0;
            row.onclick = () => chosen(one.fn);
            row.onkeydown = (event) => event.key === "Enter" && chosen(one.fn);
        }
        body.append(row);
    }
    if (of.length === 0) body.append(make("tr", {}, make("td", { colspan: "3", class: "empty" }, none)));
    const head = make("tr", {}, make("th", {}, "calls"), make("th", {}, "total"), make("th", { class: "name" }, "function"));
    return make("section", {}, make("h3", {}, title), make("table", {}, make("thead", {}, head), body));
}
