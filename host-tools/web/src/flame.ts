// SPDX-License-Identifier: Apache-2.0
// The flame graph, by d3-flame-graph: of calls, or of samples.
import { flamegraph } from "d3-flame-graph";
import { select } from "d3-selection";

import { colourOf } from "./colours";
import { found, make } from "./dom";
import type { State } from "./state";
import * as text from "./text";
import { fromCallees, fromCallers, type Columns, type Frame } from "./tree";

export interface Source {
    columns: Columns;
    name: (fn: number) => string;
    amount: (value: number) => string; // how a frame's share is said
}

interface Node {
    data: Frame;
    parent: Node | null;
    children?: Node[];
}

// None for what is no function.
function colour(node: Node & { highlight?: boolean }): string {
    if (node.highlight) return "var(--found)";
    if (node.data.fn < 0) return "var(--frame-none)";
    return colourOf(node.data.name);
}

function pathOf(node: Node): string {
    const names: string[] = [];
    for (let at: Node | null = node; at?.parent; at = at.parent) names.unshift(at.data.name);
    return names.join(";");
}

export class Flame {
    private readonly chart;
    private root: Node | null = null;
    private drawn = "";
    private zoom = "";
    private found = "";

    constructor(
        private readonly host: HTMLElement,
        private readonly source: Source,
        private readonly zoomed: (path: string) => void,
        private readonly chosen: (fn: number) => void,
    ) {
        this.chart = flamegraph();
    }

    show(state: State): void {
        const wanted = `${state.order} ${state.down} ${this.host.clientWidth}`;
        if (wanted !== this.drawn) this.draw(state);
        this.drawn = wanted;
        this.zoomTo(state.zoom);
        this.search(state.search);
    }

    private draw(state: State): void {
        const { columns, name, amount } = this.source;
        const tree = state.order === "callers" ? fromCallers(columns, name) : fromCallees(columns, name);
        this.host.replaceChildren();
        this.zoom = this.found = "";
        const details = found("details");
        // Not the nodes' values, which are those of what is shown.
        const share = (frame: Frame) => (tree.total > 0 ? frame.total / tree.total : 0);
        const said = (node: Node) =>
            `${node.data.name} — ${amount(node.data.total)}, ${text.percent(share(node.data))}` +
            (node.data.calls > 0 ? `, ${text.count(node.data.calls)} calls` : "");
        this.chart
            .width(this.host.clientWidth)
            .cellHeight(19)
            .minFrameSize(1)
            .transitionDuration(matchMedia("(prefers-reduced-motion)").matches ? 0 : 250)
            .selfValue(true)
            .sort(((a: Node, b: Node) => b.data.total - a.data.total) as never)
            .inverted(state.down === "down")
            .label(said)
            .setColorMapper(colour as never)
            .setSearchMatch((node: Node, term: string) => node.data.name.toLowerCase().includes(term.toLowerCase()))
            .setSearchHandler((_: unknown, sum: number, all: number) => {
                found("matched").textContent = `${text.percent(all > 0 ? sum / all : 0)} matched`;
            })
            .setDetailsHandler(((what: string | null) => {
                details.textContent = what ?? "Click a frame to zoom, double-click to see its callers and callees.";
            }) as never)
            .onClick((node: Node) => this.zoomed((this.zoom = pathOf(node))));
        const selection = select(this.host).datum(tree).call(this.chart);
        this.root = selection.datum() as unknown as Node;
        details.textContent = "Click a frame to zoom, double-click to see its callers and callees.";
        this.host.ondblclick = (event) => {
            const frame = (event.target as Element).closest("g.frame");
            const node = frame && (select(frame).datum() as Node);
            if (node && node.data.fn >= 0) this.chosen(node.data.fn);
        };
    }

    // As far as the path leads.
    private zoomTo(path: string): void {
        if (path === this.zoom) return;
        let node = this.root!;
        for (const name of path ? path.split(";") : []) {
            const next = node.children?.find((child) => child.data.name === name);
            if (!next) break;
            node = next;
        }
        if (node === this.root) this.chart.resetZoom();
        else (this.chart as unknown as { zoomTo(node: Node): void }).zoomTo(node);
    }

    private search(term: string): void {
        if (!term) found("matched").textContent = "";
        if (term === this.found) return;
        this.found = term;
        if (term) this.chart.search(term);
        else this.chart.clear();
    }
}

export function empty(host: HTMLElement, why: string): void {
    host.replaceChildren(make("p", { class: "empty" }, why));
}
