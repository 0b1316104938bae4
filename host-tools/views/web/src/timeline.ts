// SPDX-License-Identifier: Apache-2.0
// The timeline: a track for each context of each core. show() takes new data and keeps the range.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";

import { colourOf, functionColour, resolved } from "./colours";
import { make } from "./dom";
import type { Engine } from "./engine";
import { nameOf, type View } from "./model";
import type { FoundCall, PlacedCall } from "./placed_call";
import { searchFor } from "./search";
import { hasTrack, ofTrack, type Conditions } from "./selection";
import type { State } from "./state";
import * as text from "./text";
import { follow } from "./timeline_drag";
import { axisHeight, Drawing, exactTime, topOf, totalHeight, type Hit, type Palette, type Range, type Scene } from "./timeline_draw";
import { Heads } from "./timeline_heads";
import { Minimap } from "./timeline_minimap";
import { endings, isTask, taskOf, tracksOf, type TimelineData, type Track } from "./timeline_model";
import { Ruler } from "./timeline_ruler";

const narrowest = 20; // ns: the smallest range

function rangeOf(said: string): Range | null {
    const found = /^(-?\d+)-(-?\d+)$/.exec(said);
    return found && Number(found[2]) > Number(found[1]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

export class Timeline {
    private static keyed: Timeline; // the keys are for it
    private readonly canvas = make("canvas", { tabindex: "0", "aria-label": "Timeline" });
    private readonly spacer = make("div");
    private readonly scroll = make("div", { class: "scroll" }, this.canvas, this.spacer);
    private readonly select = make("button", { title: "all tabs show only the calls of this range (x)", hidden: "" }, "Select this range");
    private readonly withTracer = make("button", { title: "with the tracer's own time, or without it (t)", "aria-pressed": "false", hidden: "" }, "Tracer");
    private readonly where = make("span", { class: "where" });
    private readonly which = make("span", { class: "where", role: "status" }); // says of `marked` which call it is
    private readonly notes = make("p", { class: "empty" });
    private readonly tip = make("div", { class: "tip" });
    private readonly chosenBand = make("div", { class: "chosen" });
    private readonly heads: Heads;
    private readonly ruler = new Ruler();
    private readonly over = make("div", { class: "over" }, this.chosenBand);
    private readonly frame = make("div", { class: "frame" }, this.scroll, this.over);
    private readonly minimap = new Minimap((from, done) => this.place(from, done));
    private ofTask: (track: Track) => Partial<Conditions> = () => ({});
    private readonly zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
    private view: View | null = null;
    private data: TimelineData | null = null; // of the view: the whole recording
    private part: TimelineData | null = null; // what is drawn
    private engine: Engine | null = null;
    private fault = ""; // why there is no engine
    private asked = ""; // what the engine was asked last
    private summed = 0; // calls of which the engine has only sums
    private selection: Range | null = null;
    private marked: PlacedCall | null = null; // the call that a key, a click or another tab has chosen
    private hovered: PlacedCall | null = null; // since the pointer moved last
    private nth = ""; // which of its function's calls the marked one is
    private reveals = false; // the marked call has to come into sight
    private scene: Scene = { tracks: [], name: () => "", colour: () => "", isFound: () => false, isInterrupt: () => false, isSelected: () => true };
    private range: Range = { from: 0, to: 1 };
    private hasTracer = false; // the data have the tracer's own time
    private whole = true; // the range is the whole recording, also when it grows
    private drawing: Drawing | null = null;
    private pending = 0;
    private measured = false; // the click that comes next ends a drag

    constructor(
        private readonly host: HTMLElement,
        private readonly ranged: (range: string) => void,
        private readonly chosen: (fn: number) => void,
        private readonly selected: ((by: Partial<Conditions>) => void) | null, // null: nothing can be selected
        private readonly share = 1, // of the window's height
        private readonly tracer: ((shown: boolean) => void) | null = null, // shows the tracer's own time; null: cannot
    ) {
        Timeline.keyed = this;
        host.onpointerenter = () => (Timeline.keyed = this);
        host.addEventListener("focusin", () => (Timeline.keyed = this));
        const button = (what: string, title: string, done: () => void) => {
            const made = make("button", { title }, what);
            made.onclick = done;
            return made;
        };
        const tools = make("div", { class: "tools" },
            button("+", "zoom in (w, +, wheel)", () => this.zoomBy(2)),
            button("–", "zoom out (s, -, wheel)", () => this.zoomBy(1 / 2)),
            button("◂", "to the left (a, ←)", () => this.pan(-0.3)),
            button("▸", "to the right (d, →)", () => this.pan(0.3)),
            button("All", "the whole recording (0)", () => this.look(null)),
            this.select, this.withTracer,
            this.where, this.which);
        this.withTracer.onclick = () => this.toggleTracer();
        this.select.onclick = () => this.selectRange();
        this.heads = new Heads((by) => selected!(by));
        this.over.prepend(this.heads.host, this.ruler.host);
        tools.append(this.ruler.said);
        host.append(tools, this.minimap.host, this.frame, this.notes, this.tip);
        this.zoom = zoom<HTMLCanvasElement, unknown>()
            .filter((event: MouseEvent) => (event.type === "wheel" ? !event.shiftKey : !event.button && !event.shiftKey && event.offsetY >= axisHeight))
            .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => this.zoomed(event))
            .on("end", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => event.sourceEvent && this.tell());
        select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
        this.canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            if (event.shiftKey) this.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
        }, { passive: false });
        this.canvas.onpointermove = (event) => this.point(event);
        this.canvas.onpointerleave = () => {
            this.tip.hidden = true;
            this.hovered = null;
            this.ruler.point(null);
        };
        this.canvas.onclick = (event) => this.click(event);
        this.canvas.onpointerdown = (event) => {
            if (event.button) return;
            if (event.shiftKey) this.measure(event);
            else if (event.offsetY < axisHeight) this.choose(event);
        };
        this.scroll.onscroll = () => this.redraw();
        addEventListener("keydown", (event) => this.key(event));
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
        this.tip.hidden = this.chosenBand.hidden = true;
    }

    // With the tracer's own time no range can be selected: a selection's times are without it.
    show(view: View, state: State): void {
        this.hasTracer = state.tracer === "shown";
        this.withTracer.setAttribute("aria-pressed", String(this.hasTracer));
        if (!view.timeline || view.timeline.tracks.every((track) => track.rows.length === 0 && track.marks.at.length === 0) && view.timeline.charts.charts.length === 0) {
            this.data = null;
            this.notes.textContent = "No call with a time was recorded.";
            this.minimap.host.hidden = this.frame.hidden = this.where.hidden = true;
            return;
        }
        this.minimap.host.hidden = this.frame.hidden = this.where.hidden = false;
        if (view.timeline !== this.data) {
            this.data = view.timeline;
            const interrupts = new Set(this.data.interrupts);
            this.scene.isInterrupt = (fn) => interrupts.has(fn);
            this.take(this.data);
        }
        this.withTracer.hidden = !this.tracer || !this.engine || !(this.data.cut || this.hasTracer);
        this.select.hidden = !this.selected || !this.engine || this.hasTracer;
        const time = this.hasTracer ? null : /^(\d+)\.\.(\d+)$/.exec(state.time);
        this.selection = time && { from: Number(time[1]) + this.data.origin, to: Number(time[2]) + this.data.origin };
        this.scene.isSelected = (track) => hasTrack(state, track);
        if (view !== this.view) this.ofTask = (track) => ofTrack(view, track);
        this.view = view;
        const timeline = view.timeline;
        this.scene.name = (fn) => (isTask(fn) ? taskOf(timeline, fn) : nameOf(view, fn));
        this.scene.colour = (fn) => (isTask(fn) ? colourOf(this.scene.name(fn)) : functionColour(view.functions[fn], state.colour));
        const search = searchFor(state.search);
        this.scene.isFound = (fn) => (fn >= 0 || isTask(fn)) && search.finds(this.scene.name(fn));
        const range = rangeOf(state.range);
        this.whole = range === null;
        this.range = this.fitted(range ?? { from: 0, to: this.data.duration });
        const height = Math.min(totalHeight(this.scene.tracks), Math.max(240, (innerHeight - this.scroll.getBoundingClientRect().top - scrollY - 70) * this.share));
        this.scroll.style.height = `${height}px`;
        this.spacer.style.height = `${totalHeight(this.scene.tracks) - height}px`;
        this.fit();
        if (this.reveals) this.reveal();
        this.draw();
    }

    // Marks a call. Returns the range that shows it, for State.range.
    mark(call: PlacedCall, found?: FoundCall): string {
        this.marked = call;
        this.hovered = null;
        this.reveals = true;
        const number = found?.call?.number ?? null;
        this.nth = number === null ? "" : `call ${text.count(number + 1)} of ${text.count(found!.calls)}, `;
        const room = Math.max(call.duration ?? 0, 2 * narrowest);
        return `${Math.floor(call.from - room)}-${Math.ceil(call.from + (call.duration ?? 0) + room)}`;
    }
    private reveal(): void {
        this.reveals = false;
        const { fn, from, duration } = this.marked!;
        this.which.textContent = `${this.scene.name(fn)}: ${this.nth}${duration === null ? "" : exactTime(duration, 1)} at ${exactTime(from, 1)}`;
        const top = topOf(this.scene.tracks, this.marked!.track, this.marked!.depth);
        const { scrollTop, clientHeight } = this.scroll;
        if (top < scrollTop + 2 * axisHeight || top > scrollTop + clientHeight - axisHeight) this.scroll.scrollTop = top - clientHeight / 2;
    }
    // To the next call, or the previous one, of the function under the pointer, or that of the marked call.
    private step(which: "next" | "previous"): void {
        const of = this.hovered ?? this.marked;
        if (!this.engine || !of || of.fn < 0) return;
        this.canvas.dataset.steps = which; // for tests
        this.engine.call({ function: of.fn, which, track: of.track, depth: of.depth, begin: of.from, duration: of.duration ?? 0 }).then((found) => {
            delete this.canvas.dataset.steps;
            const { call } = found;
            if (!call) {
                this.which.textContent = `${this.scene.name(of.fn)}: there is no ${which} call`;
                return;
            }
            this.mark({ ...call, fn: of.fn }, found);
            const width = Math.max(this.range.to - this.range.from, 3 * (call.duration ?? 0));
            const middle = call.from + (call.duration ?? 0) / 2;
            this.reveal();
            this.look(this.whole ? null : { from: middle - width / 2, to: middle + width / 2 });
        }, (error: Error) => this.cannot(error.message));
    }
    private placed({ track, depth, call }: Hit): PlacedCall | null {
        return !call || call.fn < 0 ? null
            : { fn: call.fn, track: track.number, depth: depth!, from: call.from, duration: call.to - call.from, left: call.left || "returned" };
    }

    // From now on each part has all of its calls.
    use(engine: Engine): void {
        if (engine === this.engine) return;
        this.engine = engine;
        this.asked = "";
        if (!this.data) return;
        this.take(this.part!);
        if (!this.isHidden()) this.draw();
    }
    // The next view is of another recording, or has the other axis.
    forget(): void {
        this.data = this.part = this.engine = this.marked = this.hovered = null;
        this.asked = this.fault = this.which.textContent = "";
        this.setRuler(() => this.ruler.clear());
        this.summed = 0;
    }
    // Until the next view.
    say(sentence: string): void {
        this.notes.textContent = sentence;
    }
    // The page stays with what its view has.
    cannot(why: string): void {
        this.fault = why;
        if (this.data) this.notes.textContent = this.said();
    }

    private take(part: TimelineData): void {
        this.part = part;
        this.scene.tracks = tracksOf(part);
        this.notes.textContent = this.said();
    }

    // Asks for the calls of the range, and of half its width on each side, unless the drawn part has
    // them at the screen's width.
    private refine(): void {
        const { part, range, engine } = this;
        if (!engine || !part) return;
        const width = range.to - range.from;
        const dot = width / Math.max(1, this.scroll.clientWidth);
        const inside = part.from <= Math.max(0, range.from) && Math.min(range.to, this.data!.duration) <= part.to;
        if (inside && [part, part.charts].every(({ all, slot }) => all || slot <= Math.max(1, dot * 1.01))) return;
        const from = Math.max(0, Math.floor(range.from - width / 2));
        const to = Math.ceil(range.to + width / 2);
        const slots = Math.min(8192, Math.ceil((Math.min(to, this.data!.duration) - from) / dot));
        const asked = `${from} ${to} ${slots}`;
        if (asked === this.asked) return;
        this.asked = asked;
        this.canvas.dataset.waits = "for the engine"; // for tests
        engine.timeline(from, to, slots).then((answer) => {
            if (this.asked !== asked) return; // the range has changed
            this.summed = answer.summed;
            this.take(answer);
            this.draw();
            delete this.canvas.dataset.waits;
        }, (error: Error) => this.cannot(error.message));
    }

    // From A to B of the ruler, or what is shown.
    private selectRange(): void {
        if (!this.data || !this.selected || this.hasTracer) return;
        const since = (time: number) => Math.max(0, Math.round(time - this.data!.origin));
        const range = this.ruler.selected() ?? (this.whole ? null : this.range);
        this.selected({ time: range ? `${since(range.from)}..${since(range.to)}` : "" });
    }
    private toggleTracer(): void {
        if (!this.withTracer.hidden) this.tracer!(!this.hasTracer);
    }
    private setRuler(set: () => void): void {
        set();
        this.select.textContent = this.ruler.selected() ? "Select A to B" : "Select this range";
    }
    // Shift and drag: from A to B.
    private measure(event: PointerEvent): void {
        follow(this.canvas, event, (to) => {
            this.ruler.point(to);
            this.setRuler(() => (this.ruler.set("a", event.offsetX), this.ruler.set("b", to)));
        }, (moved) => (this.measured = moved));
    }
    // From the minimap.
    private place(from: number, done: boolean): void {
        if (!this.data) return;
        this.range = this.fitted({ from, to: from + this.range.to - this.range.from });
        this.fit();
        this.redraw();
        if (done) this.tell();
    }

    // The range within the recording, and not below `narrowest`.
    private fitted(range: Range): Range {
        const all = Math.max(this.data!.duration, narrowest);
        const width = Math.min(all, Math.max(narrowest, range.to - range.from));
        const from = Math.max(0, Math.min(range.from, all - width));
        return { from, to: from + width };
    }

    // Sets the canvas's size, and the zoom for the range.
    private fit(): void {
        const width = Math.max(1, this.scroll.clientWidth);
        const height = this.scroll.clientHeight;
        const dots = devicePixelRatio || 1;
        if (this.canvas.width !== Math.round(width * dots) || this.canvas.height !== Math.round(height * dots)) {
            this.canvas.width = Math.round(width * dots);
            this.canvas.height = Math.round(height * dots);
            this.canvas.style.width = `${width}px`;
            this.canvas.style.height = `${height}px`;
        }
        const all = Math.max(this.data!.duration, narrowest);
        const scale = all / (this.range.to - this.range.from);
        this.zoom.extent([[0, 0], [width, height]]).translateExtent([[0, -Infinity], [width, Infinity]]).scaleExtent([1, all / narrowest]);
        select(this.canvas).call(this.zoom.transform, zoomIdentity.translate((-this.range.from / all) * width * scale, 0).scale(scale));
    }

    private zoomed(event: D3ZoomEvent<HTMLCanvasElement, unknown>): void {
        if (!event.sourceEvent || !this.data) return;
        const all = Math.max(this.data.duration, narrowest);
        const { x, k } = event.transform;
        const from = (-x / (this.scroll.clientWidth * k)) * all;
        this.range = { from: Math.max(0, from), to: Math.min(all, from + all / k) };
        this.whole = k <= 1;
        if (event.sourceEvent.type === "mousemove") this.scroll.scrollTop -= event.sourceEvent.movementY;
        this.tip.hidden = true;
        this.redraw();
    }

    private tell(): void {
        this.ranged(this.whole ? "" : `${Math.floor(this.range.from)}-${Math.ceil(this.range.to)}`);
    }

    private look(range: Range | null): void {
        if (!this.data) return;
        this.range = this.fitted(range ?? { from: 0, to: this.data.duration });
        this.whole = range === null || this.range.to - this.range.from >= this.data.duration;
        this.fit();
        this.redraw();
        this.tell();
    }
    private zoomBy(factor: number): void {
        const middle = (this.range.from + this.range.to) / 2;
        const half = (this.range.to - this.range.from) / 2 / factor;
        this.look({ from: middle - half, to: middle + half });
    }
    private pan(share: number): void {
        const by = (this.range.to - this.range.from) * share;
        this.look({ from: this.range.from + by, to: this.range.to + by });
    }
    private key(event: KeyboardEvent): void {
        const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
        if (Timeline.keyed !== this || this.isHidden() || !this.data || typing || event.ctrlKey || event.altKey || event.metaKey) return;
        const done: Record<string, () => void> = {
            w: () => this.zoomBy(1.5), "+": () => this.zoomBy(1.5), "=": () => this.zoomBy(1.5),
            s: () => this.zoomBy(1 / 1.5), "-": () => this.zoomBy(1 / 1.5),
            a: () => this.pan(-0.2), ArrowLeft: () => this.pan(-0.2),
            d: () => this.pan(0.2), ArrowRight: () => this.pan(0.2),
            x: () => this.selectRange(), t: () => this.toggleTracer(),
            n: () => this.step("next"), p: () => this.step("previous"),
            "[": () => this.setRuler(() => this.ruler.set("a")), "]": () => this.setRuler(() => this.ruler.set("b")),
            "0": () => this.look(null), Home: () => this.look(null),
            ArrowUp: () => (this.scroll.scrollTop -= 40), ArrowDown: () => (this.scroll.scrollTop += 40),
        };
        if (event.key === "Escape") this.setRuler(() => this.ruler.clear()); // main.ts has more for it
        if (!done[event.key]) return;
        event.preventDefault();
        done[event.key]();
    }

    // A drag along the axis zooms into the covered range.
    private choose(event: PointerEvent): void {
        const from = event.offsetX;
        const width = this.scroll.clientWidth;
        const time = (x: number) => this.range.from + (Math.max(0, Math.min(width, x)) / width) * (this.range.to - this.range.from);
        let at = from;
        follow(this.canvas, event, (to) => {
            at = to;
            this.chosenBand.hidden = false;
            this.chosenBand.style.left = `${Math.max(0, Math.min(from, to))}px`;
            this.chosenBand.style.width = `${Math.abs(to - from)}px`;
        }, (moved) => {
            this.chosenBand.hidden = true;
            if (moved) this.look({ from: time(Math.min(from, at)), to: time(Math.max(from, at)) });
        });
    }

    private click(event: MouseEvent): void {
        const hit = this.drawing?.at(this.scene, event.offsetX, event.offsetY);
        const call = hit?.call;
        const measured = this.measured;
        this.measured = false;
        if (!call || measured) return;
        const placed = this.placed(hit);
        if (placed) this.mark(placed);
        const room = (call.to - call.from) * 0.05;
        if (event.shiftKey) this.look({ from: call.from - room, to: call.to + room });
        else if (call.fn >= 0) this.chosen(call.fn);
    }

    private point(event: PointerEvent): void {
        this.ruler.point(event.offsetX);
        const hit = event.buttons ? null : (this.drawing?.at(this.scene, event.offsetX, event.offsetY) ?? null);
        this.hovered = hit && this.placed(hit);
        const lines = hit ? this.lines(hit) : [];
        this.tip.hidden = lines.length === 0;
        this.canvas.style.cursor = hit?.call && hit.call.fn >= 0 ? "pointer" : "default";
        if (lines.length === 0) return;
        this.tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
        const box = this.tip.getBoundingClientRect();
        this.tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
        this.tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
    }

    private lines({ track, call, slot, band, mark, said }: Hit): string[] {
        if (said) return said;
        const when = (from: number) => `at ${exactTime(from, 1)}, ${track.name}`;
        if (mark) return [`mark ${mark.id}`, when(mark.at)];
        if (band) return [band.what || band.kind, `${text.time(band.to - band.from)}, ${when(band.from)}`];
        if (slot) {
            return [`${text.count(slot.calls)} ${track.what} begin here, too short to draw`,
                `${text.percent(slot.busy)} of ${text.time(slot.to - slot.from)} ${when(slot.from)}`];
        }
        if (!call) return [];
        const lines = [this.scene.name(call.fn), `${exactTime(call.to - call.from, 1)} ${when(call.from)}`];
        return call.left ? [...lines, endings[call.left] ?? call.left] : lines;
    }

    private isHidden(): boolean {
        return this.host.closest("[hidden]") !== null;
    }

    private redraw(): void {
        this.pending ||= requestAnimationFrame(() => {
            this.pending = 0;
            if (this.data && !this.isHidden()) this.draw();
        });
    }

    private draw(): void {
        const context = this.canvas.getContext("2d")!;
        const dots = devicePixelRatio || 1;
        context.setTransform(dots, 0, 0, dots, 0, 0);
        const colour = (name: string) => resolved(this.host, name);
        const palette: Palette = {
            ground: colour("--ground"), raised: colour("--raised"), line: colour("--line"), text: colour("--text"),
            quiet: colour("--quiet"), accent: colour("--accent"), bad: colour("--bad"), found: colour("--found"), none: colour("--frame-none"),
        };
        const width = this.scroll.clientWidth;
        this.drawing = new Drawing(context, width, this.scroll.clientHeight, this.range, this.scroll.scrollTop, palette);
        const drawn = this.drawing.draw(this.scene, this.selection);
        if (this.marked) this.drawing.mark(this.scene.tracks, this.marked.track, this.marked.depth, this.marked.from, this.marked.from + (this.marked.duration ?? 0));
        this.over.style.width = `${width}px`;
        this.heads.show(this.scene.tracks, this.scroll.scrollTop, this.scroll.clientHeight, this.engine && this.selected && this.ofTask);
        this.ruler.draw(this.range, width);
        this.minimap.draw(this.data!, this.range, this.selection);
        const length = this.range.to - this.range.from;
        this.where.textContent = `${text.time(length)} from ${exactTime(this.range.from, length / 1000)} · ${text.count(drawn)} calls drawn`;
        this.canvas.dataset.drawn = String(drawn);
        this.refine();
    }

    private said(): string {
        const data = this.data!;
        const parts = [];
        if (this.fault) parts.push(`The page cannot read its recording: ${this.fault}.`);
        if (this.engine || data.drawn >= data.calls) {
            parts.push(`All ${text.count(data.calls)} calls are in this page${this.summed ? `, but its memory has only sums of the ${text.count(this.summed)} oldest` : ""}.`);
            if (!data.all) parts.push("Where they are too short for the screen, the longest are drawn, and grey is darker where others fill more of the time: zoom in.");
        } else {
            parts.push(`${text.count(data.drawn)} of ${text.count(data.calls)} calls are in this page: the longest of all, and at each depth the ` +
                `longest that begins in each ${text.time(data.slot)}. Others are grey, darker where they fill more of the time. ` +
                "nopscope export --format perfetto has all of them.");
        }
        if (data.deeper) parts.push(`${text.count(data.deeper)} calls are deeper than what is shown.`);
        if (data.left_out) parts.push(`Not drawn: ${data.left_out}.`);
        parts.push(`${data.times.charAt(0).toUpperCase()}${data.times.slice(1)}. Drag or wheel: pan and zoom; drag along the axis: zoom to that; click: the function; shift and click: zoom to the call; shift and drag: measure. Keys: ?`);
        return parts.join(" ");
    }
}
