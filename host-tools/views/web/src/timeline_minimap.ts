// SPDX-License-Identifier: Apache-2.0
// A small picture of the whole recording, and in it the range that the timeline shows, which can be
// dragged. Its height is how many calls are open where contexts run. Keys pan and zoom the timeline itself, so this is
// for the pointer only.
import { make } from "./dom";
import { follow } from "./timeline_drag";
import type { Range } from "./timeline_draw";
import { notCalls, tracksOf, type TimelineData, type Track } from "./timeline_model";

const columns = 1024;

// For each column the share of it in which one of the spans lies, and how much of each.
function cover(into: Float64Array, spans: { from: number; to: number; busy?: number }[], duration: number): void {
    for (const { from, to, busy = 1 } of spans) {
        const [first, last] = [(from / duration) * columns, (to / duration) * columns];
        for (let at = Math.max(0, Math.floor(first)); at < Math.min(columns, last); ++at) {
            into[at] += busy * (Math.min(at + 1, last) - Math.max(at, first));
        }
    }
}

// How many calls are open in each column, of the contexts that run. A row has the drawn calls, and
// slots where there are more.
function shapeOf(tracks: Track[], duration: number): Float64Array {
    const sum = new Float64Array(columns);
    for (const { rows, context } of tracks) {
        if (context < 0) continue;
        const [open, away] = [new Float64Array(columns), new Float64Array(columns)];
        for (const { calls, slots } of rows) {
            if (calls.length + slots.length === 0) continue;
            const [drawn, all] = [new Float64Array(columns), new Float64Array(columns)];
            cover(drawn, calls.filter(({ fn }) => fn >= 0), duration);
            cover(all, slots, duration);
            cover(away, calls.filter(({ fn }) => fn in notCalls), duration);
            open.forEach((_, at) => (open[at] += Math.max(drawn[at], all[at])));
        }
        sum.forEach((_, at) => (sum[at] += open[at] * Math.max(0, 1 - away[at])));
    }
    return sum;
}

export class Minimap {
    private readonly shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
    private readonly selected = make("div", { class: "selected" });
    private readonly shown = make("div", { class: "shown" });
    readonly host = make("div", { class: "minimap", "aria-hidden": "true" });
    private data: TimelineData | null = null;
    private range: Range = { from: 0, to: 1 };

    // `move` gets the begin of the range; `done`: the pointer is released.
    constructor(private readonly move: (from: number, done: boolean) => void) {
        const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        picture.setAttribute("viewBox", `0 0 ${columns} 1`);
        picture.setAttribute("preserveAspectRatio", "none");
        picture.append(this.shape);
        this.host.append(picture, this.selected, this.shown);
        this.host.onpointerdown = (event) => !event.button && this.press(event);
    }

    draw(data: TimelineData, range: Range, selection: Range | null): void {
        const duration = Math.max(1, data.duration);
        if (data !== this.data) {
            const shape = shapeOf(tracksOf(data), duration);
            const most = shape.reduce((a, b) => Math.max(a, b), 0) || 1;
            this.shape.setAttribute("d", `M0 1${[...shape].map((value, at) => `V${(1 - value / most).toFixed(3)}H${at + 1}`).join("")}V1Z`);
        }
        [this.data, this.range] = [data, range];
        const place = (element: HTMLElement, { from, to }: Range) => {
            element.style.left = `${(from / duration) * 100}%`;
            element.style.width = `${((to - from) / duration) * 100}%`;
        };
        place(this.shown, range);
        this.selected.hidden = selection === null;
        if (selection) place(this.selected, selection);
    }

    // Beside the range, the range's middle goes to the pointer.
    private press(event: PointerEvent): void {
        const time = (x: number) => (x / this.host.clientWidth) * Math.max(1, this.data!.duration);
        const { from, to } = this.range;
        const at = time(event.offsetX);
        const inside = from <= at && at <= to;
        const grip = inside ? at - from : (to - from) / 2;
        let begin = at - grip;
        if (!inside) this.move(begin, false);
        follow(this.host, event, (x) => this.move((begin = time(x) - grip), false), () => this.move(begin, true));
    }
}
