// SPDX-License-Identifier: Apache-2.0
// The flame graph of calls or samples, by d3-flame-graph. When its data changes, a path's frame
// stays the same element. So it grows in its place, and zoom and search stay.
import { flamegraph } from "d3-flame-graph";
import { hierarchy, type HierarchyNode } from "d3-hierarchy";
import { select } from "d3-selection";

import { colourOf } from "./colours";
import { found } from "./dom";
import type { State } from "./state";
import * as text from "./text";
import { fromCallees, fromCallers, type Columns, type Frame } from "./tree";

export interface Source {
    columns: () => Columns;
    name: (fn: number) => string;
    key: (fn: number) => string; // identifies a function in all views
    amount: (value: number) => string; // text for a frame's share
}

// d3-flame-graph's nodes. It hides frames beside the zoomed one, and fades those around it.
type Node = HierarchyNode<Frame & { fade?: boolean; hide?: boolean }> & { id?: string; highlight?: boolean; inside?: boolean };

const nothing: Frame = { name: "", value: 0, total: 0, calls: 0, fn: -1, change: 0, before: 0, children: [] };
const hint = "Click a frame to zoom, double-click to see its callers and callees.";


export class Flame {
    private readonly chart;
    private readonly ids = new Map<string, string>(); // a path's, by caller's id and function
    private root: Node | null = null;
    private drawn = "";
    private version = -1;
    private path = "";
    private term = "";
    private differs = false; // the data is a comparison
    private mostChange = 0;

    constructor(
        private readonly host: HTMLElement,
        private readonly source: Source,
        private readonly zoomed: (path: string) => void,
        private readonly chosen: (fn: number) => void,
    ) {
        this.chart = flamegraph();
    }

    // `version` changes with the source's data.
    show(state: State, version: number): void {
        const drawing = `${state.order} ${state.down} ${this.host.clientWidth}`;
        if (!this.host.querySelector("svg")) this.drawn = "";
        const isNew = drawing !== this.drawn || version !== this.version;
        if (!isNew && state.zoom === this.path && state.search === this.term) return;
        const before = drawing === this.drawn ? this.host.clientHeight : 0;
        if (drawing !== this.drawn) this.draw(state);
        if (isNew) this.take(state);
        [this.drawn, this.version, this.path, this.term] = [drawing, version, state.zoom, state.search];
        this.zoom(state.zoom);
        this.search(state.search);
        this.chart.update(undefined as never); // draws the current data
        if (isNew && state.down === "up") scrollBy(0, this.host.clientHeight - before); // the root stays
        const under = this.host.querySelector("g.frame:hover");
        if (under) found("details").textContent = this.said(select(under).datum() as Node);
    }

    private said(node: Node): string {
        const { total, calls, name } = node.data;
        const all = this.root!.data.total; // the nodes' values count visible frames only
        const { before } = node.data;
        const was = !this.differs ? "" : before === 0 ? " (new)" :
            `, before ${this.source.amount(before)} (${total < before ? "" : "+"}${text.percent(total / before - 1)})`;
        return `${name} — ${this.source.amount(total)}, ${text.percent(all > 0 ? total / all : 0)}${was}` +
            (calls > 0 ? `, ${text.count(calls)} calls` : "");
    }

    // No colour if it is no function. In a comparison, red is slower and blue is faster.
    private colour(node: Node): string {
        const { fn, name, change } = node.data;
        if (node.highlight) return "var(--found)";
        if (fn < 0) return "var(--frame-none)";
        if (!this.differs) return colourOf(name);
        const part = this.mostChange > 0 ? Math.abs(change) / this.mostChange : 0;
        return `hsl(${change > 0 ? 8 : 215} ${change === 0 ? 0 : 85}% ${92 - 32 * Math.sqrt(part)}%)`;
    }

    private draw(state: State): void {
        this.host.replaceChildren();
        this.ids.clear();
        const details = found("details");
        this.chart
            .width(this.host.clientWidth)
            .cellHeight(19)
            .minFrameSize(1)
            .transitionDuration(matchMedia("(prefers-reduced-motion)").matches ? 0 : 250)
            .selfValue(true)
            .sort(((a: Node, b: Node) => b.data.total - a.data.total) as never)
            .inverted(state.down === "down")
            .label(((node: Node) => this.said(node)) as never)
            .setColorMapper(((node: Node) => this.colour(node)) as never)
            .setDetailsHandler(((what: string | null) => (details.textContent = what ?? hint)) as never)
            .onClick(((node: Node) => {
                this.path = this.pathOf(node); // the chart has already zoomed
                this.zoomed(this.path);
            }) as never);
        this.root = hierarchy(nothing);
        select(this.host).datum(nothing).call(this.chart);
        details.textContent = hint;
        this.host.ondblclick = (event) => {
            const frame = (event.target as Element).closest("g.frame");
            const node = frame && (select(frame).datum() as Node);
            if (node && node.data.fn >= 0) this.chosen(node.data.fn);
        };
    }

    private take(state: State): void {
        const { columns, name } = this.source;
        const tree = state.order === "callers" ? fromCallers(columns(), name) : fromCallees(columns(), name);
        this.root = hierarchy(tree) as Node;
        this.differs = columns().before !== undefined;
        this.mostChange = 0;
        this.root.each(({ data }) => (this.mostChange = Math.max(this.mostChange, data.fn < 0 ? 0 : Math.abs(data.change))));
        this.root.eachBefore((node: Node) => (node.id = this.idOf(node)));
        this.chart.height(null as never); // fits the current depth
        select(this.host).datum(this.root);
    }

    private idOf(node: Node): string {
        const path = node.parent ? `${node.parent.id} ${this.source.key(node.data.fn)}` : "";
        let id = this.ids.get(path);
        if (id === undefined) this.ids.set(path, (id = String(this.ids.size)));
        return id;
    }

    private pathOf(node: Node): string {
        const keys: string[] = [];
        for (let at: Node | null = node; at?.parent; at = at.parent) keys.unshift(this.source.key(at.data.fn));
        return keys.join(";");
    }

    // Zooms along the path, to the first missing frame. A handwritten link may have names as keys.
    private zoom(path: string): void {
        let node = this.root!;
        node.each(({ data }) => (data.fade = data.hide = false));
        for (const step of path ? path.split(";") : []) {
            const is = (child: Node) => this.source.key(child.data.fn) === step;
            const next = node.children?.find(is) ?? node.children?.find((child) => child.data.name === step);
            if (!next) break;
            for (const child of node.children!) child.data.hide = child !== next;
            node.data.fade = true;
            node = next;
        }
    }

    private search(term: string): void {
        const wanted = term.toLowerCase();
        let sum = 0;
        this.root!.eachBefore((node: Node) => {
            const inside = (node.parent as Node | null)?.inside ?? false;
            node.highlight = wanted !== "" && node.data.name.toLowerCase().includes(wanted);
            node.inside = inside || node.highlight;
            if (node.highlight && !inside) sum += node.data.total;
        });
        const all = this.root!.data.total;
        found("matched").textContent = term ? `${text.percent(all > 0 ? sum / all : 0)} matched` : "";
    }
}
