// SPDX-License-Identifier: Apache-2.0
// The table of all calls, in the order of their begins. It has only the rows that the screen shows,
// and asks the engine for them. Of a list that is higher than a browser's elements may be, the
// scroll bar stands for the share of the list.
import { make, patch } from "./dom";
import type { Engine } from "./engine";
import { nameOf, special, type View } from "./model";
import { callsOf, selectedRange, type CallsData, type PlacedCall } from "./placed_call";
import { searchFor } from "./search";
import { tracksIn } from "./selection";
import type { State } from "./state";
import * as text from "./text";
import { exactTime } from "./timeline_draw";
import { endings } from "./timeline_model";

const rowHeight = 24;
const highest = 2_000_000; // pixels
const heads: [string, string][] = [["begin", "since the recording's begin"], ["duration", ""], ["core or task", ""], ["depth", "calls around it"], ["function", ""], ["ended", "how, if it did not return"]];
const columnOf = (head: string) => ({ "core or task": "track", function: "name", depth: "wide" })[head] ?? head;

export class Events {
    private readonly body = make("tbody");
    private readonly table = make("table", { role: "grid", tabindex: "0", "aria-label": "Calls in the order of their begins" },
        make("colgroup", {}, ...heads.map(([head]) => make("col", { class: columnOf(head) }))),
        make("thead", {}, make("tr", { "aria-rowindex": "1" }, ...heads.map(([head, title]) => make("th", { title, class: columnOf(head) }, head)))),
        this.body);
    private readonly window = make("div", { class: "window" }, this.table);
    private readonly spacer = make("div");
    private readonly scroll = make("div", { class: "scroll", tabindex: "-1" }, this.window, this.spacer);
    private readonly look = make("button", { title: "Enter" }, "Show in the timeline");
    private readonly status = make("span", { class: "where" });
    private readonly notes = make("p", { class: "empty" });
    private engine: Engine | null = null;
    private fault = ""; // why there is no engine
    private view: View | null = null;
    private listed = ""; // what the list is of
    private question: object = {}; // that of the list
    private data: CallsData | null = null; // the last answer
    private calls: PlacedCall[] = []; // its calls
    private top = 0; // place of the first row on the screen
    private current = 0; // the row that the keys move
    private scrolled = 0; // where this set the scroll bar
    private wheeled = 0; // pixels that are no whole row yet
    private asking = false;

    constructor(
        private readonly host: HTMLElement,
        private readonly shown: (call: PlacedCall) => void,
        private readonly chosen: (fn: number) => void,
    ) {
        host.replaceChildren(make("div", { class: "tools" }, this.look, this.status), this.scroll, this.notes);
        this.look.onclick = () => this.showCurrent();
        this.table.onkeydown = (event) => this.key(event);
        this.body.ondblclick = () => this.showCurrent();
        this.scroll.onscroll = () => {
            // A hidden element, of which a browser may still tell, is at 0.
            if (this.host.hidden || Math.abs(this.scroll.scrollTop - this.scrolled) < 2) return;
            this.scrolled = this.scroll.scrollTop;
            this.top = Math.round((this.scrolled / Math.max(1, this.range())) * this.last());
            this.draw();
        };
        this.scroll.addEventListener("wheel", (event) => {
            if (event.ctrlKey || event.deltaY === 0) return;
            this.wheeled += event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * rowHeight;
            const rows = Math.trunc(this.wheeled / rowHeight);
            this.wheeled -= rows * rowHeight;
            if (this.last() > 0) event.preventDefault();
            this.goTo(this.top + rows);
        }, { passive: false });
    }

    // Also in place of another recording's.
    use(engine: Engine): void {
        this.engine = engine;
        this.fault = this.listed = "";
        this.data = null;
        this.calls = [];
        if (!this.host.hidden) this.draw();
    }
    cannot(why: string): void {
        this.fault = why;
        if (!this.host.hidden) this.draw();
    }

    // `view`: of the whole recording.
    show(view: View, state: State): void {
        this.view = view;
        const search = searchFor(state.search);
        const functions = [...view.functions.keys(), ...special.keys()].filter((fn) => search.finds(nameOf(view, fn)));
        const question = { ...selectedRange(state.time, view.timeline!), ...tracksIn(state, view.timeline!), ...(search.active ? { functions } : {}) };
        const listed = JSON.stringify(question);
        if (listed !== this.listed) {
            this.listed = listed;
            this.question = question;
            this.data = null;
            this.calls = [];
            this.top = this.current = 0;
        }
        this.scroll.style.height = `${Math.max(240, innerHeight - this.scroll.getBoundingClientRect().top - scrollY - 90)}px`;
        this.fit();
    }

    private rows(): number {
        return Math.max(1, Math.floor((this.scroll.clientHeight - this.table.tHead!.offsetHeight) / rowHeight));
    }
    // The last place that `top` may have.
    private last(): number {
        return Math.max(0, (this.data?.calls ?? 0) - this.rows());
    }
    // Pixels that the scroll bar goes.
    private range(): number {
        return Math.min(highest, this.last() * rowHeight);
    }

    // Sets the heights for the list's length.
    private fit(): void {
        this.window.style.height = `${this.scroll.clientHeight}px`;
        this.spacer.style.height = `${this.range()}px`;
        this.goTo(this.top);
    }

    private goTo(top: number): void {
        this.top = Math.max(0, Math.min(this.last(), top));
        this.scroll.scrollTop = this.scrolled = this.last() > 0 ? (this.top / this.last()) * this.range() : 0;
        this.draw();
    }

    private key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.altKey || event.metaKey || !this.data) return;
        const to: Record<string, number> = {
            ArrowUp: this.current - 1, ArrowDown: this.current + 1,
            PageUp: this.current - this.rows() + 1, PageDown: this.current + this.rows() - 1,
            Home: 0, End: this.data.calls - 1,
        };
        const at = this.at(this.current);
        if (event.key in to) this.move(to[event.key]);
        else if (event.key === "Enter") this.showCurrent();
        else if (event.key === "c" && at && at.fn >= 0) this.chosen(at.fn);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
    private move(to: number): void {
        this.current = Math.max(0, Math.min(this.data!.calls - 1, to));
        const rows = this.rows();
        this.goTo(this.current < this.top ? this.current : this.current >= this.top + rows ? this.current - rows + 1 : this.top);
    }
    private showCurrent(): void {
        const call = this.at(this.current);
        if (call) this.shown(call);
    }

    private at(place: number): PlacedCall | undefined {
        return this.data ? this.calls[place - this.data.first] : undefined;
    }

    // Asks for the rows on the screen, and as many on each side, unless they are here.
    private ask(): void {
        if (!this.engine || this.asking) return;
        const rows = this.rows();
        const end = Math.min(this.data?.calls ?? Infinity, this.top + rows);
        if (this.data && (end <= this.top || (this.at(this.top) && this.at(end - 1)))) return;
        const listed = this.listed;
        this.asking = true;
        this.host.dataset.waits = "for the engine"; // for tests
        this.engine.calls({ ...this.question, first: Math.max(0, this.top - rows), count: 3 * rows }).then((data) => {
            this.asking = false;
            if (listed === this.listed) {
                this.data = data;
                this.calls = callsOf(data);
            }
            if (this.host.hidden) return;
            this.fit();
        }, (error: Error) => {
            this.asking = false;
            this.cannot(error.message);
        });
    }

    private draw(): void {
        if (!this.fault) this.ask();
        if (!this.asking) delete this.host.dataset.waits;
        this.scroll.hidden = this.look.hidden = this.fault !== "" || this.data?.calls === 0;
        this.status.textContent = this.said();
        this.notes.textContent = this.noted();
        if (!this.data || this.fault) return;
        const end = Math.min(this.data.calls, this.top + this.rows());
        const lines = [];
        for (let place = this.top; place < end; ++place) lines.push(this.line(place));
        patch(this.body, ...lines);
        this.table.setAttribute("aria-rowcount", String(this.data.calls + 1));
        if (this.current >= this.top && this.current < end) this.table.setAttribute("aria-activedescendant", "current-call");
        else this.table.removeAttribute("aria-activedescendant");
    }

    private line(place: number): HTMLElement {
        const call = this.at(place);
        const line = make("tr", { "aria-rowindex": String(place + 2), ...(place === this.current ? { id: "current-call", "aria-selected": "true" } : {}) });
        line.onclick = () => {
            this.current = place;
            this.draw();
        };
        if (!call) {
            line.append(make("td", { colspan: String(heads.length) }, "…"));
            return line;
        }
        const name = nameOf(this.view!, call.fn);
        const button = make("button", { tabindex: "-1", title: "callers and callees (c)" }, name);
        button.onclick = () => this.chosen(call.fn);
        const cell = make("td", { class: "name", title: name }, call.fn >= 0 ? button : name);
        cell.style.paddingLeft = `${10 + 10 * Math.min(call.depth, 20)}px`;
        line.append(
            make("td", {}, exactTime(call.from, 1)),
            make("td", {}, call.duration === null ? "–" : exactTime(call.duration, 1)),
            make("td", { class: "track" }, this.view!.timeline!.tracks[call.track]?.name ?? ""),
            make("td", { class: "wide" }, String(call.depth)),
            cell,
            make("td", { class: "ended" }, endings[call.left] ?? ""));
        return line;
    }

    private said(): string {
        if (this.fault || !this.data) return "";
        const { calls } = this.data;
        if (calls === 0) return "";
        return `${text.count(calls)} calls · ${text.count(this.top + 1)} to ${text.count(Math.min(calls, this.top + this.rows()))}`;
    }

    private noted(): string {
        if (this.fault) return `The page cannot list the calls: ${this.fault}.`;
        if (!this.data) return "The page reads its recording…";
        const { calls, begin, summed, deeper } = this.data;
        const times = this.view!.timeline!.times;
        const parts = [];
        if (calls === 0) parts.push(this.listed === "{}" ? "No call with a time was recorded." : "No call is selected, or the search finds none.");
        if (begin !== null) parts.push(`The list begins at ${exactTime(begin, 1)}: the page's memory has only sums of ${text.count(summed)} older calls.`);
        if (deeper) parts.push(`${text.count(deeper)} calls are too deep for the list.`);
        parts.push(`${times.charAt(0).toUpperCase()}${times.slice(1)}. ↑ ↓: another call; Enter or double click: in the timeline; c or a click on the name: callers and callees.`);
        return parts.join(" ");
    }
}
