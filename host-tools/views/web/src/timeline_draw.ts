// SPDX-License-Identifier: Apache-2.0
// Draws the tracks, without their heads (timeline_heads.ts), of a time range on a canvas, scrolled down by `top` pixels.
import { scaleLinear } from "d3-scale";

import * as text from "./text";
import { chartLines, drawChart, heightOfChart } from "./timeline_charts";
import { firstAfter, isTask, notCalls, type Band, type Call, type Slot, type Track } from "./timeline_model";

export const axisHeight = 26;
export const headHeight = 22;
const rowHeight = 18;
const pause = 10; // space below a track
const letter = 6.7; // width of a letter, 11 px monospace

export interface Range {
    from: number;
    to: number;
}

export interface Palette {
    ground: string;
    raised: string;
    line: string;
    text: string;
    quiet: string;
    accent: string;
    bad: string;
    found: string;
    none: string;
}

export interface Scene {
    tracks: Track[];
    name: (fn: number) => string;
    colour: (fn: number) => string; // of a function or a task
    isFound: (fn: number) => boolean;
    isInterrupt: (fn: number) => boolean;
    isSelected: (track: Track) => boolean;
}

// The object under the pointer.
export interface Hit {
    track: Track;
    depth?: number; // the row of `call`
    call?: Call;
    slot?: Slot;
    band?: Band;
    mark?: { at: number; id: number };
    said?: string[]; // of a chart
}

export const heightOf = (track: Track) => headHeight + (track.chart ? heightOfChart(track.chart) : track.rows.length * rowHeight) + pause;

// The top of a row in all tracks.
export function topOf(tracks: Track[], number: number, depth: number): number {
    const at = tracks.findIndex((track) => track.number === number);
    return totalHeight(tracks.slice(0, Math.max(0, at))) + headHeight + depth * rowHeight;
}

export function totalHeight(tracks: Track[]): number {
    return axisHeight + tracks.reduce((sum, track) => sum + heightOf(track), 0);
}

// "12.3456 ms", with as many digits as `step` needs.
export function exactTime(ns: number, step: number): string {
    const size = Math.abs(ns) >= 1e9 ? 1e9 : Math.abs(ns) >= 1e6 ? 1e6 : Math.abs(ns) >= 1e3 ? 1e3 : 1;
    const unit = { 1e9: "s", 1e6: "ms", 1e3: "µs", 1: "ns" }[size];
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(step, 1)))));
    return `${(ns / size).toFixed(digits)} ${unit}`;
}

export class Drawing {
    private readonly scale;

    constructor(
        private readonly context: CanvasRenderingContext2D,
        private readonly width: number,
        private readonly height: number,
        private readonly range: Range,
        private readonly top: number,
        private readonly colours: Palette,
    ) {
        this.scale = scaleLinear([range.from, range.to], [0, width]);
    }

    // Returns the number of drawn calls.
    draw(scene: Scene, selection: Range | null): number {
        const { context, width, height, colours } = this;
        context.fillStyle = colours.ground;
        context.fillRect(0, 0, width, height);
        context.textBaseline = "middle";
        const ticks = this.scale.ticks(Math.max(2, width / 130));
        context.fillStyle = colours.line;
        for (const tick of ticks) context.fillRect(Math.round(this.scale(tick)), axisHeight, 1, height);
        let drawn = 0;
        let y = axisHeight - this.top;
        for (const track of scene.tracks) {
            const end = y + heightOf(track);
            if (end > axisHeight && y < height) drawn += this.track(scene, track, y);
            if (!scene.isSelected(track)) this.dim(0, y, width, end - y);
            y = end;
        }
        if (selection) this.outside(selection);
        this.axis(ticks);
        return drawn;
    }

    // Dims what is not selected.
    private outside({ from, to }: Range): void {
        const { scale, width, height } = this;
        this.dim(0, axisHeight, Math.max(0, scale(from)), height);
        this.dim(scale(to), axisHeight, Math.max(0, width - scale(to)), height);
    }

    private dim(x: number, y: number, width: number, height: number): void {
        const { context, colours } = this;
        context.globalAlpha = 0.6;
        context.fillStyle = colours.ground;
        context.fillRect(x, y, width, height);
        context.globalAlpha = 1;
    }

    private axis(ticks: number[]): void {
        const { context, width, colours, scale } = this;
        context.fillStyle = colours.raised;
        context.fillRect(0, 0, width, axisHeight - 1);
        const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        for (const tick of ticks) {
            const x = Math.round(scale(tick));
            context.fillStyle = colours.line;
            context.fillRect(x, axisHeight - 8, 1, 7);
            const said = exactTime(tick, step);
            if (x + 8 + context.measureText(said).width > width) continue;
            context.fillStyle = colours.quiet;
            context.fillText(said, x + 4, axisHeight / 2);
        }
        context.fillStyle = colours.line;
        context.fillRect(0, axisHeight - 1, width, 1);
    }

    private track(scene: Scene, track: Track, y: number): number {
        const { context } = this;
        const rows = y + headHeight;
        if (track.chart) {
            drawChart(track.chart, { context, x: this.scale, y: rows, width: this.width, range: this.range, colours: this.colours },
                (...of) => this.label(...of), scene.name);
            return 0;
        }
        const height = track.rows.length * rowHeight;
        let drawn = 0;
        context.font = "11px ui-monospace, monospace";
        track.rows.forEach((row, depth) => {
            const at = rows + depth * rowHeight;
            if (at + rowHeight < axisHeight || at > this.height) return;
            this.slots(row.slots, track.what, at);
            drawn += this.calls(scene, row.calls, at);
        });
        for (const band of track.bands) this.band(band, rows, Math.max(height, rowHeight));
        this.marks(track, y, height);
        return drawn;
    }

    // Slots whose calls are too short to draw: the busier, the darker.
    private slots(slots: Slot[], what: string, y: number): void {
        const { context, colours, range } = this;
        let last = -1;
        for (let i = firstAfter(slots, range.from); i < slots.length && slots[i].from < range.to; ++i) {
            const slot = slots[i];
            const left = Math.max(0, this.scale(slot.from));
            const right = Math.min(this.width, this.scale(slot.to));
            if (right <= last + 0.5) continue;
            last = right;
            context.globalAlpha = 0.12 + 0.5 * slot.busy;
            context.fillStyle = colours.none;
            context.fillRect(left, y, Math.max(right - left, 0.7), rowHeight - 1);
            context.globalAlpha = 1;
            if (right - left > 90) this.label(`${text.count(slot.calls)} ${what}`, left, right, y, colours.text);
        }
    }

    private calls(scene: Scene, calls: Call[], y: number): number {
        const { context, colours, range } = this;
        let drawn = 0;
        let covered = -1; // pixels up to here have a call
        for (let i = firstAfter(calls, range.from); i < calls.length && calls[i].from <= range.to; ++i) {
            const call = calls[i];
            const isFound = scene.isFound(call.fn);
            const left = Math.max(-1, this.scale(call.from));
            const right = Math.max(Math.min(this.width + 1, this.scale(call.to)), left + 1);
            if (!(call.fn in notCalls) && !isTask(call.fn)) ++drawn;
            if (right <= covered && !isFound) continue;
            covered = right;
            const name = scene.name(call.fn);
            context.fillStyle = isFound ? colours.found : scene.isInterrupt(call.fn) ? colours.accent : call.fn < 0 && !isTask(call.fn) ? colours.none : scene.colour(call.fn);
            const wide = right - left > 3;
            context.fillRect(left, y, wide ? right - left - 0.5 : right - left, rowHeight - 1);
            if (right - left > 24) this.label(name, left, right, y, scene.isInterrupt(call.fn) && !isFound ? colours.ground : "#1b1f24");
        }
        return drawn;
    }

    // A frame around a call, also around one that is too short to be drawn.
    mark(tracks: Track[], number: number, depth: number, from: number, to: number): void {
        const { context, colours } = this;
        const left = this.scale(from);
        const right = Math.max(this.scale(to), left + 1);
        const y = topOf(tracks, number, depth) - this.top;
        if (right < 0 || left > this.width || y < axisHeight || y > this.height) return;
        context.lineWidth = 4;
        context.strokeStyle = colours.ground;
        context.strokeRect(left - 2, y - 2, right - left + 4, rowHeight + 3);
        context.lineWidth = 2;
        context.strokeStyle = colours.text;
        context.strokeRect(left - 2, y - 2, right - left + 4, rowHeight + 3);
        context.lineWidth = 1;
    }

    private label(what: string, left: number, right: number, y: number, colour: string): void {
        const from = Math.max(left, 0) + 4;
        const room = Math.floor((Math.min(right, this.width) - from - 2) / letter);
        if (room < 2) return;
        this.context.fillStyle = colour;
        this.context.textAlign = "left";
        this.context.fillText(what.length > room ? `${what.slice(0, room - 1)}…` : what, from, y + rowHeight / 2);
    }

    private band(band: Band, y: number, height: number): void {
        const { context, colours, range } = this;
        if (band.to < range.from || band.from > range.to) return;
        const left = Math.max(-2, this.scale(band.from));
        const right = Math.min(this.width + 2, Math.max(this.scale(band.to), left + 2));
        context.save();
        context.beginPath();
        if (band.kind === "gap") {
            context.rect(left, y, right - left, height);
            context.clip();
            context.globalAlpha = 0.16;
            context.fillStyle = colours.bad;
            context.fillRect(left, y, right - left, height);
            context.globalAlpha = 0.8;
            context.strokeStyle = colours.bad;
            context.beginPath();
            for (let x = left - height - ((left - height) % 8); x < right; x += 8) {
                context.moveTo(x, y + height);
                context.lineTo(x + height, y);
            }
            context.stroke();
            const length = band.what.length * letter;
            const [from, to] = [Math.max(left, 0), Math.min(right, this.width)];
            if (to - from > length + 40) {
                const middle = (from + to) / 2;
                context.globalAlpha = 1;
                context.fillStyle = colours.ground;
                context.fillRect(middle - length / 2 - 8, y + height / 2 - 11, length + 16, 22);
                context.fillStyle = colours.bad;
                context.textAlign = "center";
                context.fillText(band.what, middle, y + height / 2);
            }
        } else {
            context.fillStyle = band.kind === "dropped" ? colours.bad : colours.accent;
            context.fillRect(left, y - 5, right - left, 4);
        }
        context.restore();
    }

    private marks(track: Track, y: number, height: number): void {
        const { context, colours, range } = this;
        context.font = "11px system-ui, sans-serif";
        let free = 0;
        for (const { at, id } of track.marks) {
            if (at < range.from || at > range.to) continue;
            const x = this.scale(at);
            context.fillStyle = colours.accent;
            context.fillRect(Math.round(x), y + 4, 1, headHeight - 4 + height);
            const said = `mark ${id}`;
            if (x < free) continue;
            context.fillText(said, x + 4, y + headHeight / 2);
            free = x + 12 + said.length * letter;
        }
    }

    // `x` and `y` are pixels of the canvas.
    at(scene: Scene, x: number, y: number): Hit | null {
        if (y < axisHeight) return null;
        const time = this.scale.invert(x);
        const near = this.scale.invert(x + 2) - time; // also finds narrow calls
        let top = axisHeight - this.top;
        for (const track of scene.tracks) {
            const bottom = top + heightOf(track);
            if (y >= top && y < bottom) {
                if (track.chart) return { track, said: y < top + headHeight ? [] : chartLines(track, time, near, scene.name) };
                const mark = track.marks.find((one) => Math.abs(one.at - time) <= near);
                if (mark && y < top + headHeight) return { track, mark };
                const band = track.bands.find((one) => one.from - near <= time && time <= one.to + near);
                if (band && (band.kind === "gap" || y < top + headHeight)) return { track, band };
                const depth = Math.floor((y - top - headHeight) / rowHeight);
                const row = track.rows[depth];
                if (!row) return { track };
                const first = firstAfter(row.calls, time - near);
                let call: Call | undefined;
                for (let i = first; i < row.calls.length && row.calls[i].from <= time + near; ++i) {
                    const one = row.calls[i];
                    if (one.from <= time && time <= one.to) return { track, depth, call: one };
                    call ??= one;
                }
                if (call) return { track, depth, call };
                const slot = row.slots[firstAfter(row.slots, time)];
                return slot && slot.from <= time ? { track, slot } : { track };
            }
            top = bottom;
        }
        return null;
    }
}
