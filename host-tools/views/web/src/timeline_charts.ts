// SPDX-License-Identifier: Apache-2.0
// Charts below the timeline's tracks: times with interrupts masked, counters, and events of the PMU in each call.
import * as text from "./text";
import { exactTime, type Palette, type Range } from "./timeline_draw";
import { firstAfter, sums, type Ordered, type TimelineData, type Track } from "./timeline_model";

export type Value = number | string; // text: beyond 2^53

// A record, or several that are one point in this part.
interface Point {
    from: number;
    to: number;
    least: Value;
    most: Value;
    last: Value;
    records: number;
    fn: number; // a function's number, or below -99 one of Chart.names
}

export interface Chart {
    kind: "masked" | "counter" | "events";
    name: string;
    least: Value;
    most: Value;
    records: number;
    points: Point[];
    end: number; // of the part: what comes later is not known
    names: string[];
}

const firstName = -100;
const height = { masked: 18, counter: 36, events: 36 };
export const heightOfChart = ({ kind }: Chart) => height[kind];

const valueText = (value: Value) => (typeof value === "number" ? text.count(value) : BigInt(value).toLocaleString("en-US"));
const rangeText = (least: Value, most: Value) => (least === most ? valueText(most) : `${valueText(least)} to ${valueText(most)}`);
const spanText = (ns: Value) => exactTime(Number(ns), 1);

// What a chart's head says beside the name. The target tells of masked times that are longer than all before.
export function limitsOf({ kind, least, most, records }: Chart): string {
    return kind !== "masked" ? rangeText(least, most) : `${text.count(records)} new ${records === 1 ? "maximum" : "maxima"}, the longest ${text.time(Number(most))}`;
}

// A core's charts come below its tracks, and counters that several cores set below all.
export function chartsOf(data: TimelineData): Ordered[] {
    const { charts, names } = data.charts;
    return charts.map((chart) => {
        const points = sums(chart.from).map((from, at) => {
            const last = chart.last[at];
            const length = chart.duration?.[at] ?? (chart.kind === "masked" ? Number(last) : 0);
            return { from, to: from + length, last, least: chart.min?.[at] ?? last, most: chart.max?.[at] ?? last,
                records: chart.joined?.[at] ?? 1, fn: chart.function?.[at] ?? 0 };
        });
        const { kind, name, least, most, records, core } = chart;
        return {
            number: -2, name, core: core ?? -1, context: -1, task: name, what: "", rows: [], marks: [], bands: [],
            order: core === null ? Infinity : (core + 1) * 2 ** 32 - 0.75,
            chart: { kind, name, least, most, records, points, end: data.to, names },
        };
    });
}

const nameIn = ({ names }: Chart, { fn }: Point, name: (fn: number) => string) => (fn <= firstName ? names[firstName - fn] : name(fn));

// The place of a chart on the canvas.
export interface Place {
    context: CanvasRenderingContext2D;
    x: (time: number) => number;
    y: number;
    width: number;
    range: Range;
    colours: Palette;
}

// Writes text into a bar whose top is `y`, as much as there is room for.
type Label = (what: string, left: number, right: number, y: number, colour: string) => void;

export function drawChart(chart: Chart, place: Place, label: Label, name: (fn: number) => string): void {
    const { context, y, width, colours } = place;
    context.fillStyle = colours.line;
    context.fillRect(0, y + height[chart.kind] - 1, width, 1);
    if (chart.kind === "masked") drawMasked(chart, place, label, name);
    else (chart.kind === "counter" ? drawCounter : drawEvents)(chart, place);
}

// The points that are to be drawn, and the one before.
function* shown({ points }: Chart, { from, to }: Range): Generator<[Point, number]> {
    for (let at = Math.max(0, firstAfter(points, from) - 1); at < points.length && points[at].from <= to; ++at) yield [points[at], at];
}

function drawMasked(chart: Chart, { context, x, y, width, range, colours }: Place, label: Label, name: (fn: number) => string): void {
    context.font = "11px ui-monospace, monospace";
    for (const [point] of shown(chart, range)) {
        const left = Math.max(-1, x(point.from));
        const right = Math.max(Math.min(width + 1, x(point.to)), left + 2);
        if (right < 0) continue;
        context.fillStyle = colours.accent;
        context.fillRect(left, y, right - left > 3 ? right - left - 0.5 : right - left, height.masked - 1);
        const said = point.records > 1 ? `${text.count(point.records)} times` : nameIn(chart, point, name);
        label(said, left, Math.min(right, width), y, colours.ground);
    }
}

// A step at each value. Where several are one point, all that lies between them.
function drawCounter(chart: Chart, { context, x, y, width, range, colours }: Place): void {
    const [least, most] = [Number(chart.least), Number(chart.most)];
    const at = (value: Value) => y + 2 + (height.counter - 5) * (most === least ? 0.5 : 1 - (Number(value) - least) / (most - least));
    for (const [point, number] of shown(chart, range)) {
        const [left, right] = [Math.max(-2, x(point.from)), Math.min(width + 2, x(point.to))];
        const next = Math.min(width + 2, x(chart.points[number + 1]?.from ?? Math.max(chart.end, point.to)));
        context.fillStyle = colours.accent;
        if (next > right) {
            const last = at(point.last);
            context.globalAlpha = 0.2;
            context.fillRect(right, last, next - right, y + height.counter - 1 - last);
            context.globalAlpha = 1;
            context.fillRect(right, last - 1, next - right, 2);
        }
        // Up or down from the value before.
        const before = chart.points[number - 1]?.last ?? point.least;
        const [low, high] = [Math.min(Number(point.least), Number(before)), Math.max(Number(point.most), Number(before))];
        context.fillRect(left - 0.5, at(high) - 1, Math.max(1, right - left), at(low) - at(high) + 2);
    }
}

// A bar at the end of each call. Of several: up to the least, and lighter up to the most.
function drawEvents(chart: Chart, { context, x, y, width, range, colours }: Place): void {
    const bottom = y + height.events - 1;
    const of = (value: Value) => (Number(chart.most) === 0 ? 0 : ((height.events - 3) * Number(value)) / Number(chart.most));
    context.fillStyle = colours.accent;
    for (const [point] of shown(chart, range)) {
        const left = Math.max(-2, x(point.from) - 1);
        const right = Math.min(width + 2, Math.max(x(point.to) + 1, left + 2));
        if (right <= left) continue;
        context.globalAlpha = 0.5;
        context.fillRect(left, bottom - of(point.most), right - left, of(point.most));
        context.globalAlpha = 1;
        context.fillRect(left, bottom - of(point.least), right - left, of(point.least));
        context.fillRect(left, bottom - of(point.most) - 1, right - left, 1);
    }
}

// What the tip says at a time. `near`: how far beside it a point may be.
export function chartLines(track: Track, time: number, near: number, name: (fn: number) => string): string[] {
    const chart = track.chart!;
    const { points } = chart;
    const where = (from: number) => `at ${exactTime(from, 1)}${track.core < 0 ? "" : `, core ${track.core}`}`;
    const first = firstAfter(points, time - near);
    if (chart.kind === "counter") {
        const at = points[first]?.from <= time + near ? first : first - 1;
        const point = points[at];
        if (!point) return [];
        if (point.records > 1 && time <= point.to) {
            return [`${chart.name}: ${rangeText(point.least, point.most)}`, `${text.count(point.records)} values here, the last ${valueText(point.last)}`, where(point.from)];
        }
        return [`${chart.name}: ${valueText(point.last)}`, `since ${exactTime(point.to, 1)}`];
    }
    let nearest: Point | undefined;
    const distance = (one: Point) => Math.max(one.from - time, time - one.to, 0);
    for (let at = first; at < points.length && points[at].from <= time + near; ++at) {
        if (!nearest || distance(points[at]) < distance(nearest)) nearest = points[at];
    }
    if (!nearest) return [];
    const { from, least, most, records } = nearest;
    const by = nameIn(chart, nearest, name);
    if (chart.kind === "masked") {
        return records > 1 ? [`interrupts masked ${text.count(records)} times here`, `the longest ${spanText(most)}, by ${by}`, where(from)]
            : [`interrupts masked by ${by}`, `${spanText(most)} ${where(from)}`];
    }
    const event = chart.name.replace(/ each call$/, "");
    return records > 1 ? [`${event}: ${rangeText(least, most)} in each of ${text.count(records)} calls here`, `the most in ${by}`, where(from)]
        : [`${event}: ${valueText(most)} in ${by}`, where(from)];
}
