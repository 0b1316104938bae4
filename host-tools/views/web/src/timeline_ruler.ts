// SPDX-License-Identifier: Apache-2.0
// What lies over the timeline's picture: the time at the pointer, and a ruler from A to B.
import { make } from "./dom";
import * as text from "./text";
import { exactTime, type Range } from "./timeline_draw";

export class Ruler {
    readonly host = make("div", { class: "ruler", "aria-hidden": "true" });
    readonly said = make("span", { class: "ruled", role: "status" });
    private readonly cursor = make("div", { class: "cursor" });
    private readonly time = make("span");
    private readonly between = make("div", { class: "between" });
    private readonly ends = { a: make("div", { class: "end" }, make("span", {}, "A")), b: make("div", { class: "end" }, make("span", {}, "B")) };
    private readonly at: { a: number | null; b: number | null } = { a: null, b: null };
    private pointer: number | null = null; // pixels
    private range: Range = { from: 0, to: 1 };
    private width = 1;

    constructor() {
        this.cursor.append(this.time);
        this.host.append(this.between, this.ends.a, this.ends.b, this.cursor);
    }

    // From A to B, if there are both, whichever is first.
    selected(): Range | null {
        const { a, b } = this.at;
        return a === null || b === null || a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) };
    }

    draw(range: Range, width: number): void {
        [this.range, this.width] = [range, width];
        this.place();
    }

    // null: it has left.
    point(x: number | null): void {
        this.pointer = x;
        this.place();
    }

    // Where the pointer is; without one, the middle.
    set(end: "a" | "b", x = this.pointer ?? this.width / 2): void {
        this.at[end] = Math.round(this.timeAt(x));
        this.say();
        this.place();
    }

    clear(): void {
        this.at.a = this.at.b = null;
        this.say();
        this.place();
    }

    private timeAt(x: number): number {
        return this.range.from + (Math.max(0, Math.min(this.width, x)) / this.width) * (this.range.to - this.range.from);
    }

    private xOf(time: number): number {
        return ((time - this.range.from) / (this.range.to - this.range.from)) * this.width;
    }

    private place(): void {
        const line = (element: HTMLElement, x: number | null) => {
            element.hidden = x === null || x < 0 || x > this.width;
            element.style.left = `${x}px`;
        };
        line(this.cursor, this.pointer);
        if (this.pointer !== null) {
            this.time.textContent = exactTime(this.timeAt(this.pointer), (this.range.to - this.range.from) / this.width);
            this.time.classList.toggle("left", this.pointer > this.width / 2);
        }
        for (const end of ["a", "b"] as const) line(this.ends[end], this.at[end] === null ? null : this.xOf(this.at[end]));
        const ruled = this.selected();
        this.between.hidden = ruled === null;
        if (!ruled) return;
        const from = Math.max(0, this.xOf(ruled.from));
        this.between.style.left = `${from}px`;
        this.between.style.width = `${Math.max(0, Math.min(this.width, this.xOf(ruled.to)) - from)}px`;
    }

    private say(): void {
        const { a, b } = this.at;
        const parts = [];
        if (a !== null) parts.push(`A ${exactTime(a, 1)}`);
        if (b !== null) parts.push(`B ${exactTime(b, 1)}`);
        if (a !== null && b !== null && a !== b) parts.push(`${b < a ? "–" : ""}${exactTime(Math.abs(b - a), 1)}, ${text.rate(Math.abs(b - a))}`);
        this.said.textContent = parts.join(" · ");
    }
}
