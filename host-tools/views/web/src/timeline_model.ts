// SPDX-License-Identifier: Apache-2.0
// The view's section `timeline`. host-tools/views/page/timeline_json.cpp writes it. Times are
// nanoseconds since the first event. In a row, `from` and `slot` are distances from the one before.
import { chartsOf, type Chart } from "./timeline_charts";

export interface RowData {
    from: number[]; // drawn calls, ascending
    duration: number[];
    function: number[];
    left: [number, string][]; // [position, how it ended]: "gap", "unwound", "open"
    // Time slots with more calls than are drawn.
    slot?: number[];
    busy?: number[]; // percentage of the slot with a call
    calls?: number[]; // number of calls that begin in it
}

export interface TrackData {
    core: number;
    context: number; // 0: the core itself
    name: string;
    depth: number; // rows in the whole recording; `rows` may have fewer
    rows: RowData[]; // by depth
    marks: { at: number[]; id: number[] };
}

// Bands over parts of a core's time. `kind` is "gap" (missing records), "dropped" (missing calls),
// or one that this page does not know, but shows.
export interface BandData {
    core: number[];
    kind: string[];
    from: number[];
    to: number[];
    what: string[];
}

// Which task each core ran. A row's functions are positions in `tasks`.
export interface SchedulerData {
    since: number; // what its times count from
    slot: number;
    slots_from: number;
    tracks: TrackData[]; // a core's is its row
    tasks: string[]; // names
}

// When interrupts were masked, counters, and events of the PMU in each call. Values beyond 2^53 are text.
export interface ChartsData {
    all: boolean; // each record is a point, as long as the memory has all
    slot: number; // else: records of one slot, which has this width, are one point
    names: string[]; // of functions with numbers below -99: -100 is the first
    charts: {
        kind: "masked" | "counter" | "events";
        core: number | null; // null: a counter that several cores set
        name: string;
        least: number | string; // in the whole recording
        most: number | string;
        records: number;
        from: number[]; // distances; a counter's first point may be before this part
        last: (number | string)[]; // a value; of a masked time its duration
        function?: number[]; // a position in View.functions, or a number of `special`; not of counters
        // Only where records are joined:
        duration?: number[]; // up to the end of the last one
        min?: (number | string)[];
        max?: (number | string)[]; // that of `function`
        joined?: number[]; // how many records
    }[];
}

export interface TimelineData {
    duration: number; // of the whole recording
    origin: number; // the first record: what `--time` counts from
    from: number; // of this part, up to but not including `to`
    to: number;
    all: boolean; // all calls of the part are drawn
    slot: number; // width of a slot
    slots_from: number; // begin of slot 0
    tracks: TrackData[];
    scheduler: SchedulerData | null; // null: the target names no task
    bands: BandData;
    charts: ChartsData;
    interrupts: number[]; // positions in View.functions that are interrupts
    calls: number; // in the recording
    drawn: number; // number of calls in the rows
    deeper: number; // number of calls deeper than any row
    summed: number; // number of calls of which only sums are left, the oldest
    left_out: string; // other things that are not shown
    cut: boolean; // the tracer's own time is cut out of times
    times: string; // the kind of times
}

export interface Call {
    from: number;
    to: number;
    fn: number;
    left: string; // empty: it returned
}

export interface Slot {
    from: number;
    to: number;
    busy: number; // 0..1
    calls: number;
}

export interface Band {
    kind: string;
    from: number;
    to: number;
    what: string;
}

export interface Track {
    number: number; // a position in TimelineData.tracks; -1: a row of the scheduler; -2: a chart
    name: string;
    core: number; // -1: of several
    context: number; // below 0: it is not of a context
    task: string; // the name without the core
    what: string; // what its rows have
    rows: { calls: Call[]; slots: Slot[] }[];
    marks: { at: number; id: number }[];
    bands: Band[];
    chart?: Chart; // it has this, and no rows
}

// How a call ended that did not return.
export const endings: Record<string, string> = {
    gap: "a gap follows: it may have gone on",
    unwound: "left by longjmp or an exception",
    open: "not over yet at the end",
};
export const notCalls: Record<number, true> = { [-3]: true, [-4]: true }; // the tracer, another context (model.ts)

export function sums(steps: number[]): number[] {
    let at = 0;
    return steps.map((step) => (at += step));
}

// A task in a scheduler's row, as the number of a call's function, and back.
const firstTask = -100;
export const isTask = (fn: number) => fn <= firstTask;
export const taskOf = (data: TimelineData, fn: number) => data.scheduler!.tasks[firstTask - fn];

function rowsOf({ rows, depth }: TrackData, since: number, data: { slot: number; slots_from: number }, fn: (of: number) => number): Track["rows"] {
    return Array.from({ length: Math.max(depth, rows.length) }, (_, at) => {
        const row = rows[at];
        if (!row) return { calls: [], slots: [] };
        const calls = sums(row.from).map((from, at) => ({ from: since + from, to: since + from + row.duration[at], fn: fn(row.function[at]), left: "" }));
        for (const [at, how] of row.left) calls[at].left = how;
        const slots = sums(row.slot ?? []).map((slot, at) => ({
            from: since + data.slots_from + slot * data.slot,
            to: since + data.slots_from + (slot + 1) * data.slot,
            busy: row.busy![at] / 100,
            calls: row.calls![at],
        }));
        return { calls, slots };
    });
}

// The track's name without the core.
export const taskOfTrack = ({ name, context }: TrackData): string => name.replace(/^core \d+(, |$)/, "") || `context ${context}`;

export type Ordered = Track & { order: number };

// Before each core's tracks comes the row of its scheduler, behind them its charts.
export function tracksOf(data: TimelineData): Track[] {
    const tracks: Ordered[] = data.tracks.map((track, number) => ({
        number,
        name: track.name,
        core: track.core,
        context: track.context,
        task: taskOfTrack(track),
        what: "calls",
        order: track.core * 2 ** 32 + track.context,
        rows: rowsOf(track, 0, data, (fn) => fn),
        marks: track.marks.at.map((at, i) => ({ at, id: track.marks.id[i] })),
        bands: data.bands.core.flatMap((core, i) =>
            core === track.core ? [{ kind: data.bands.kind[i], from: data.bands.from[i], to: data.bands.to[i], what: data.bands.what[i] }] : []),
    }));
    const { scheduler } = data;
    const rows: Ordered[] = (scheduler?.tracks ?? []).map((core) => ({
        number: -1,
        name: `core ${core.core} runs`,
        core: core.core,
        context: -1,
        task: "",
        what: "turns of tasks",
        order: core.core * 2 ** 32 - 0.5,
        rows: rowsOf(core, scheduler!.since, scheduler!, (task) => firstTask - task),
        marks: [],
        bands: [],
    }));
    return [...tracks, ...rows, ...chartsOf(data)]
        .filter((track) => track.chart || track.rows.length > 0 || track.marks.length > 0 || track.bands.length > 0)
        .sort((a, b) => a.order - b.order);
}

// The first item that ends after `time`. In a row, an item begins after the end of the one before
// it, except for calls of duration records.
export function firstAfter<Of extends { to: number }>(list: Of[], time: number): number {
    let low = 0;
    let high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle].to < time) low = middle + 1;
        else high = middle;
    }
    return low;
}
