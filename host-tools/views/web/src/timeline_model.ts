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

export interface TimelineData {
    duration: number;
    slot: number; // width of a slot
    slots_from: number; // begin of slot 0
    tracks: TrackData[];
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
    rows: { calls: Call[]; slots: Slot[] }[];
    marks: { at: number; id: number }[];
    bands: Band[];
}

function sums(steps: number[]): number[] {
    let at = 0;
    return steps.map((step) => (at += step));
}

export function tracksOf(data: TimelineData): Track[] {
    return data.tracks
        .map((track) => ({
            name: track.context === 0 ? `core ${track.core}` : `core ${track.core}, context ${track.context}`,
            order: track.core * 2 ** 32 + track.context,
            rows: track.rows.map((row) => {
                const calls = sums(row.from).map((from, at) => ({ from, to: from + row.duration[at], fn: row.function[at], left: "" }));
                for (const [at, how] of row.left) calls[at].left = how;
                const slots = sums(row.slot ?? []).map((slot, at) => ({
                    from: data.slots_from + slot * data.slot,
                    to: data.slots_from + (slot + 1) * data.slot,
                    busy: row.busy![at] / 100,
                    calls: row.calls![at],
                }));
                return { calls, slots };
            }),
            marks: track.marks.at.map((at, i) => ({ at, id: track.marks.id[i] })),
            bands: data.bands.core.flatMap((core, i) =>
                core === track.core ? [{ kind: data.bands.kind[i], from: data.bands.from[i], to: data.bands.to[i], what: data.bands.what[i] }] : []),
        }))
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
