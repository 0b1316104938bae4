// SPDX-License-Identifier: Apache-2.0
// The timeline: a track for each context of each core. show() takes new data and keeps the range.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";

import { resolved } from "./colours";
import { make } from "./dom";
import { contains, nameOf, type View } from "./model";
import type { State } from "./state";
import * as text from "./text";
import { axisHeight, Drawing, exactTime, totalHeight, type Hit, type Palette, type Range, type Scene } from "./timeline_draw";
import { isTask, taskOf, tracksOf, type TimelineData } from "./timeline_model";

const narrowest = 20; // ns: the smallest range

function rangeOf(said: string): Range | null {
    const found = /^(-?\d+)-(-?\d+)$/.exec(said);
    return found && Number(found[2]) > Number(found[1]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

export class Timeline {
    private readonly canvas = make("canvas", { tabindex: "0", "aria-label": "Timeline" });
    private readonly spacer = make("div");
    private readonly scroll = make("div", { class: "scroll" }, this.canvas, this.spacer);
    private readonly where = make("span", { class: "where" });
    private readonly notes = make("p", { class: "empty" });
    private readonly tip = make("div", { class: "tip" });
    private readonly chosenBand = make("div", { class: "chosen" });
    private readonly zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
    private data: TimelineData | null = null;
    private scene: Scene = { tracks: [], name: () => "", isFound: () => false, isInterrupt: () => false };
    private range: Range = { from: 0, to: 1 };
    private whole = true; // the range is the whole recording, also when it grows
    private drawing: Drawing | null = null;
    private pending = 0;

    constructor(
        private readonly host: HTMLElement,
        private readonly ranged: (range: string) => void,
        private readonly chosen: (fn: number) => void,
    ) {
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
            this.where);
        host.replaceChildren(tools, this.scroll, this.notes, this.tip);
        this.scroll.append(this.chosenBand);
        this.zoom = zoom<HTMLCanvasElement, unknown>()
            .filter((event: MouseEvent) => (event.type === "wheel" ? !event.shiftKey : !event.button && event.offsetY >= axisHeight))
            .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => this.zoomed(event))
            .on("end", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => event.sourceEvent && this.tell());
        select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
        this.canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            if (event.shiftKey) this.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
        }, { passive: false });
        this.canvas.onpointermove = (event) => this.point(event);
        this.canvas.onpointerleave = () => (this.tip.hidden = true);
        this.canvas.onclick = (event) => this.click(event);
        this.canvas.onpointerdown = (event) => {
            if (event.offsetY < axisHeight) this.choose(event);
        };
        this.scroll.onscroll = () => this.redraw();
        addEventListener("keydown", (event) => this.key(event));
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
        this.tip.hidden = this.chosenBand.hidden = true;
    }

    show(view: View, state: State): void {
        if (!view.timeline || view.timeline.tracks.every((track) => track.rows.length === 0 && track.marks.at.length === 0)) {
            this.data = null;
            this.notes.textContent = "No call with a time was recorded.";
            this.scroll.hidden = this.where.hidden = true;
            return;
        }
        this.scroll.hidden = this.where.hidden = false;
        if (view.timeline !== this.data) {
            this.data = view.timeline;
            const interrupts = new Set(this.data.interrupts);
            this.scene = { ...this.scene, tracks: tracksOf(this.data), isInterrupt: (fn) => interrupts.has(fn) };
            this.notes.textContent = said(this.data);
        }
        this.tip.hidden ||= !this.canvas.matches(":hover");
        const timeline = view.timeline;
        this.scene.name = (fn) => (isTask(fn) ? taskOf(timeline, fn) : nameOf(view, fn));
        const search = state.search;
        this.scene.isFound = (fn) => search !== "" && (fn >= 0 || isTask(fn)) && contains(this.scene.name(fn), search);
        const range = rangeOf(state.range);
        this.whole = range === null;
        this.range = this.fitted(range ?? { from: 0, to: this.data.duration });
        const height = Math.min(totalHeight(this.scene.tracks), Math.max(240, innerHeight - this.scroll.getBoundingClientRect().top - scrollY - 70));
        this.scroll.style.height = `${height}px`;
        this.spacer.style.height = `${totalHeight(this.scene.tracks) - height}px`;
        this.fit();
        this.draw();
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
        if (this.host.hidden || !this.data || typing || event.ctrlKey || event.altKey || event.metaKey) return;
        const done: Record<string, () => void> = {
            w: () => this.zoomBy(1.5), "+": () => this.zoomBy(1.5), "=": () => this.zoomBy(1.5),
            s: () => this.zoomBy(1 / 1.5), "-": () => this.zoomBy(1 / 1.5),
            a: () => this.pan(-0.2), ArrowLeft: () => this.pan(-0.2),
            d: () => this.pan(0.2), ArrowRight: () => this.pan(0.2),
            "0": () => this.look(null), Home: () => this.look(null),
            ArrowUp: () => (this.scroll.scrollTop -= 40), ArrowDown: () => (this.scroll.scrollTop += 40),
        };
        if (!done[event.key]) return;
        event.preventDefault();
        done[event.key]();
    }

    // A drag along the axis zooms into the covered range.
    private choose(event: PointerEvent): void {
        const from = event.offsetX;
        const width = this.scroll.clientWidth;
        const time = (x: number) => this.range.from + (Math.max(0, Math.min(width, x)) / width) * (this.range.to - this.range.from);
        this.canvas.setPointerCapture(event.pointerId);
        const move = (now: PointerEvent) => {
            this.chosenBand.hidden = false;
            this.chosenBand.style.left = `${Math.max(0, Math.min(from, now.offsetX))}px`;
            this.chosenBand.style.width = `${Math.abs(now.offsetX - from)}px`;
        };
        const end = (now: PointerEvent) => {
            this.canvas.removeEventListener("pointermove", move);
            this.chosenBand.hidden = true;
            if (now.type === "pointerup" && Math.abs(now.offsetX - from) > 3) {
                this.look({ from: time(Math.min(from, now.offsetX)), to: time(Math.max(from, now.offsetX)) });
            }
        };
        this.canvas.addEventListener("pointermove", move);
        this.canvas.addEventListener("pointerup", end, { once: true });
        this.canvas.addEventListener("pointercancel", end, { once: true });
    }

    private click(event: MouseEvent): void {
        const call = this.drawing?.at(this.scene, event.offsetX, event.offsetY)?.call;
        if (!call) return;
        const room = (call.to - call.from) * 0.05;
        if (event.shiftKey) this.look({ from: call.from - room, to: call.to + room });
        else if (call.fn >= 0) this.chosen(call.fn);
    }

    private point(event: PointerEvent): void {
        const hit = event.buttons ? null : (this.drawing?.at(this.scene, event.offsetX, event.offsetY) ?? null);
        const lines = hit ? this.lines(hit) : [];
        this.tip.hidden = lines.length === 0;
        this.canvas.style.cursor = hit?.call && hit.call.fn >= 0 ? "pointer" : "default";
        if (lines.length === 0) return;
        this.tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
        const box = this.tip.getBoundingClientRect();
        this.tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
        this.tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
    }

    private lines({ track, call, slot, band, mark }: Hit): string[] {
        const when = (from: number) => `at ${exactTime(from, 1)}, ${track.name}`;
        if (mark) return [`mark ${mark.id}`, when(mark.at)];
        if (band) return [band.what || band.kind, `${text.time(band.to - band.from)}, ${when(band.from)}`];
        if (slot) {
            return [`${text.count(slot.calls)} ${track.what} begin here, most not in the page`,
                `${text.percent(slot.busy)} of ${text.time(slot.to - slot.from)} ${when(slot.from)}`];
        }
        if (!call) return [];
        const left = { gap: "a gap follows: it may have gone on", unwound: "left by longjmp or an exception", open: "not over yet at the end" };
        const lines = [this.scene.name(call.fn), `${exactTime(call.to - call.from, 1)} ${when(call.from)}`];
        return call.left ? [...lines, left[call.left as keyof typeof left] ?? call.left] : lines;
    }

    private redraw(): void {
        this.tip.hidden = true; // it is of what was at that place
        this.pending ||= requestAnimationFrame(() => {
            this.pending = 0;
            if (this.data && !this.host.hidden) this.draw();
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
        const drawn = this.drawing.draw(this.scene);
        const length = this.range.to - this.range.from;
        this.where.textContent = `${text.time(length)} from ${exactTime(this.range.from, length / 1000)} · ${text.count(drawn)} calls drawn`;
    }
}

function said(data: TimelineData): string {
    const parts = [];
    if (data.drawn < data.calls) {
        parts.push(`${text.count(data.drawn)} of ${text.count(data.calls)} calls are in this page: the longest of all, and at each depth the ` +
            `longest that begins in each ${text.time(data.slot)}. Others are grey, darker where they fill more of the time. ` +
            "nopscope export --format perfetto has all of them.");
    } else {
        parts.push("All calls are here.");
    }
    if (data.deeper) parts.push(`${text.count(data.deeper)} calls are deeper than what is shown.`);
    if (data.left_out) parts.push(`Not drawn: ${data.left_out}.`);
    parts.push(`${data.times.charAt(0).toUpperCase()}${data.times.slice(1)}. Drag or wheel: pan and zoom; drag along the axis: zoom to that; click: the function; shift and click: zoom to the call.`);
    return parts.join(" ");
}
