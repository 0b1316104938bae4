// SPDX-License-Identifier: Apache-2.0
// The view's section `timeline`. host-tools/views/page/timeline_json.cpp writes it. Times are
// nanoseconds since the first event. In a row, `from` and `slot` are distances from the one before.

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

export interface TimelineData {
    duration: number;
    slot: number; // width of a slot
    slots_from: number; // begin of slot 0
    tracks: TrackData[];
    scheduler: SchedulerData | null; // null: the target names no task
    bands: BandData;
    interrupts: number[]; // positions in View.functions that are interrupts
    calls: number; // in the recording
    drawn: number; // number of calls in the rows
    deeper: number; // number of calls deeper than any row
    left_out: string; // other things that are not shown
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
    name: string;
    what: string; // what its rows have
    rows: { calls: Call[]; slots: Slot[] }[];
    marks: { at: number; id: number }[];
    bands: Band[];
}

function sums(steps: number[]): number[] {
    let at = 0;
    return steps.map((step) => (at += step));
}

// A task in a scheduler's row, as the number of a call's function, and back.
const firstTask = -100;
export const isTask = (fn: number) => fn <= firstTask;
export const taskOf = (data: TimelineData, fn: number) => data.scheduler!.tasks[firstTask - fn];

function rowsOf(rows: RowData[], since: number, data: { slot: number; slots_from: number }, fn: (of: number) => number): Track["rows"] {
    return rows.map((row) => {
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

// Before each core's tracks comes the row of its scheduler.
export function tracksOf(data: TimelineData): Track[] {
    const tracks = data.tracks.map((track) => ({
        name: track.name,
        what: "calls",
        order: track.core * 2 ** 32 + track.context,
        rows: rowsOf(track.rows, 0, data, (fn) => fn),
        marks: track.marks.at.map((at, i) => ({ at, id: track.marks.id[i] })),
        bands: data.bands.core.flatMap((core, i) =>
            core === track.core ? [{ kind: data.bands.kind[i], from: data.bands.from[i], to: data.bands.to[i], what: data.bands.what[i] }] : []),
    }));
    const { scheduler } = data;
    const rows = (scheduler?.tracks ?? []).map((core) => ({
        name: `core ${core.core} runs`,
        what: "turns of tasks",
        order: core.core * 2 ** 32 - 0.5,
        rows: rowsOf(core.rows, scheduler!.since, scheduler!, (task) => firstTask - task),
        marks: [],
        bands: [],
    }));
    return [...tracks, ...rows]
        .filter((track) => track.rows.length > 0 || track.marks.length > 0 || track.bands.length > 0)
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
