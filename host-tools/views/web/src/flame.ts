// SPDX-License-Identifier: Apache-2.0
// The flame graph of calls or samples, by d3-flame-graph. When its data changes, a path's frame
// stays the same element. So it grows in its place, and zoom and search stay.
import { flamegraph } from "d3-flame-graph";
import { hierarchy, type HierarchyNode } from "d3-hierarchy";
import { select } from "d3-selection";

import { found, make } from "./dom";
import { searchFor, type Matches } from "./search";
import type { State } from "./state";
import * as text from "./text";
import { fromCallees, fromCallers, type Columns, type Frame } from "./tree";

export interface Source {
    columns: () => Columns;
    name: (fn: number) => string;
    key: (fn: number) => string; // identifies a function in all views
    colour: (fn: number) => string;
    amount: (value: number) => string; // text for a frame's share
}

// d3-flame-graph's nodes. It hides frames beside the zoomed one, and fades those around it.
type Node = HierarchyNode<Frame & { fade?: boolean; hide?: boolean }> & { id?: string; highlight?: boolean; inside?: boolean };

const nothing: Frame = { name: "", value: 0, total: 0, calls: 0, fn: -1, change: 0, before: 0, children: [] };
const hint = "Click a frame to zoom, double-click to see its callers and callees; ? lists the keys.";

// For a screen reader and the keyboard it is a tree. One frame is the current one.
export class Flame implements Matches {
    private readonly tree;
    private readonly chart;
    private readonly ids = new Map<string, string>(); // a path's, by caller's id and function
    private root: Node | null = null;
    private drawn = "";
    private version = -1;
    private path = "";
    private term = "";
    private colours = "";
    private zoomedAt: Node | null = null;
    private current = ""; // a node's id
    private found: Node[] = [];
    private matched = "";
    private differs = false; // the data is a comparison
    private mostChange = 0;

    constructor(
        private readonly host: HTMLElement,
        title: string,
        private readonly source: Source,
        private readonly zoomed: (path: string) => void,
        private readonly chosen: (fn: number) => void,
    ) {
        this.chart = flamegraph();
        this.tree = make("div", { role: "tree", tabindex: "0", "aria-label": title });
        this.tree.onkeydown = (event) => this.key(event);
        this.tree.onfocus = () => {
            const byKey = this.tree.matches(":focus-visible");
            this.tree.classList.toggle("keys", byKey);
            if (byKey) this.reach(this.node());
        };
        this.tree.onblur = () => this.tell();
        this.tree.onpointerdown = () => this.tree.classList.remove("keys");
    }

    // `version` changes with the source's data.
    show(state: State, version: number): void {
        if (this.tree.parentElement !== this.host) this.host.replaceChildren(this.tree);
        const drawing = `${state.order} ${state.down} ${this.tree.clientWidth}`;
        const isNew = drawing !== this.drawn || version !== this.version;
        if (!isNew && state.zoom === this.path && state.search === this.term && state.colour === this.colours) return this.tell();
        const before = drawing === this.drawn ? this.tree.clientHeight : 0;
        if (drawing !== this.drawn) this.draw(state);
        if (isNew) this.take(state);
        [this.drawn, this.version, this.path, this.term, this.colours] = [drawing, version, state.zoom, state.search, state.colour];
        this.zoom(state.zoom);
        this.search(state.search);
        this.chart.update(undefined as never); // draws the current data
        this.mark();
        if (isNew && state.down === "up") scrollBy(0, this.tree.clientHeight - before); // the root stays
        this.tell();
    }

    count(): number {
        return this.found.length;
    }

    at(): number {
        return this.found.findIndex((node) => node.id === this.current);
    }

    go(match: number): void {
        const node = this.found[match];
        if (!this.frame(node)) this.zoomed(this.pathOf(node));
        this.reach(node);
    }

    private reach(node: Node): void {
        this.current = node.id!;
        this.mark();
        const frame = this.frame(node);
        frame?.parentElement!.append(frame); // its border is above the others
        frame?.scrollIntoView({ block: "nearest" });
        this.tell();
        found("announced").textContent = this.said(node);
    }

    // The function of the current frame; below 0: it has none.
    function(): number {
        return this.node().data.fn;
    }

    private frames(): Map<string, Element> {
        return new Map([...this.tree.querySelectorAll("g.frame")].map((frame) => [(select(frame).datum() as Node).id!, frame]));
    }

    private frame(node: Node): Element | undefined {
        return this.frames().get(node.id!);
    }

    // The current frame's node; if it is not drawn, that of the zoomed one.
    private node(): Node {
        const now = this.root!.find((node) => node.id === this.current);
        return now && this.frame(now) ? now : this.zoomedAt!;
    }

    mark(): void {
        if (!this.zoomedAt) return;
        const node = this.node();
        const among = node.parent?.children ?? [node];
        for (const before of this.tree.querySelectorAll("[role=treeitem]")) {
            for (const name of before.getAttributeNames()) if (/^(role|id|data-current|aria-.*)$/.test(name)) before.removeAttribute(name);
            before.querySelector("title")!.textContent = this.said(select(before).datum() as Node);
        }
        const attributes = {
            role: "treeitem", id: `${this.host.id}-current`, "data-current": node.highlight && node.id === this.current ? "match" : "", "aria-selected": "true",
            "aria-level": node.depth + 1, "aria-posinset": among.indexOf(node) + 1, "aria-setsize": among.length,
        };
        const frame = this.frame(node);
        for (const [name, value] of Object.entries(attributes)) frame?.setAttribute(name, String(value));
        if (frame) frame.querySelector("title")!.textContent = node.data.name; // of a tree's item a screen reader says the title
        this.tree.setAttribute("aria-activedescendant", `${this.host.id}-current`);
    }

    // Shows the figures of the frame under the pointer, or of the current one, and of the search.
    private tell(): void {
        const under = this.tree.querySelector("g.frame:hover");
        const node = under ? (select(under).datum() as Node) : document.activeElement === this.tree || this.at() >= 0 ? this.node() : null;
        found("details").textContent = node ? this.said(node) : hint;
        found("matched").textContent = this.matched;
        const { fn, name } = this.node().data;
        found("subtree").hidden = fn < 0;
        found("subtree").textContent = `Select what ${name} calls`;
    }

    private key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const node = this.node();
        const drawn = this.frames();
        const shown = (of: Node[] | undefined) => (of ?? []).filter(({ id }) => drawn.has(id!));
        const beside = shown(node.parent?.children as Node[]);
        const [inwards, outwards] = this.chart.inverted() ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
        const to: Record<string, () => Node | null | undefined> = {
            [inwards]: () => shown(node.children as Node[])[0],
            [outwards]: () => node.parent as Node | null,
            ArrowLeft: () => beside[beside.indexOf(node) - 1],
            ArrowRight: () => beside[beside.indexOf(node) + 1],
            Home: () => this.root,
        };
        const done: Record<string, () => void> = {
            Enter: () => this.zoomed(this.pathOf(node)),
            Backspace: () => this.zoomed(this.path.split(";").slice(0, -1).join(";")),
            u: () => found("subtree").click(),
            c: () => node.data.fn >= 0 && this.chosen(node.data.fn),
        };
        if (!to[event.key] && !done[event.key]) return;
        event.preventDefault();
        this.tree.classList.add("keys");
        done[event.key]?.();
        const next = to[event.key] ? to[event.key]() : node;
        if (next && event.key !== "c" && event.key !== "u") this.reach(next);
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
        const { fn, change } = node.data;
        if (node.highlight) return "var(--found)";
        if (fn < 0) return "var(--frame-none)";
        if (!this.differs) return this.source.colour(fn);
        const part = this.mostChange > 0 ? Math.abs(change) / this.mostChange : 0;
        return `hsl(${change > 0 ? 8 : 215} ${change === 0 ? 0 : 85}% ${92 - 32 * Math.sqrt(part)}%)`;
    }

    private draw(state: State): void {
        this.tree.replaceChildren();
        this.ids.clear();
        this.current = "";
        this.chart
            .width(this.tree.clientWidth)
            .cellHeight(19)
            .minFrameSize(1)
            .transitionDuration(matchMedia("(prefers-reduced-motion)").matches ? 0 : 250)
            .selfValue(true)
            .inverted(state.down === "down")
            .label(((node: Node) => this.said(node)) as never)
            .setColorMapper(((node: Node) => this.colour(node)) as never)
            .setDetailsHandler((() => this.tell()) as never)
            .onClick(((node: Node) => {
                this.current = node.id!;
                this.zoomed(this.pathOf(node));
            }) as never);
        this.root = hierarchy(nothing);
        select(this.tree).datum(nothing).call(this.chart);
        this.tree.querySelector("svg")!.setAttribute("role", "none"); // its frames are the tree's items
        this.tree.ondblclick = (event) => {
            const frame = (event.target as Element).closest("g.frame");
            const node = frame && (select(frame).datum() as Node);
            if (node && node.data.fn >= 0) this.chosen(node.data.fn);
        };
    }

    private take(state: State): void {
        const { columns, name } = this.source;
        const tree = state.order === "callers" ? fromCallers(columns(), name) : fromCallees(columns(), name);
        this.root = hierarchy(tree).sort((a, b) => b.data.total - a.data.total) as Node;
        this.differs = columns().before !== undefined;
        this.mostChange = 0;
        this.root.each(({ data }) => (this.mostChange = Math.max(this.mostChange, data.fn < 0 ? 0 : Math.abs(data.change))));
        this.root.eachBefore((node: Node) => (node.id = this.idOf(node)));
        this.chart.height(null as never); // fits the current depth
        select(this.tree).datum(this.root);
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
        this.zoomedAt = node;
    }

    private search(said: string): void {
        const search = searchFor(said);
        let sum = 0;
        this.found = [];
        this.root!.eachBefore((node: Node) => {
            const inside = (node.parent as Node | null)?.inside ?? false;
            node.highlight = search.finds(node.data.name);
            node.inside = inside || node.highlight;
            if (node.highlight) this.found.push(node);
            if (node.highlight && !inside) sum += node.data.total;
        });
        const all = this.root!.data.total;
        this.matched = search.active ? `${text.percent(all > 0 ? sum / all : 0)} matched` : "";
    }
}
