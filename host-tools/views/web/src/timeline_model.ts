// SPDX-License-Identifier: Apache-2.0
// The view's section `timeline`, written by host-tools/views/page/timeline_json.cpp. Times are nanoseconds since the first
// event; `from` and `slot` of a row are each the distance from the one before.

export interface RowData {
    from: number[]; // calls that are drawn, ascending
    duration: number[];
    function: number[];
    left: [number, string][]; // those of them that did not just return, by position: "gap", "unwound", "open"
    // Slots of time that hold more calls than those.
    slot?: number[];
    busy?: number[]; // percent of the slot in which there is a call
    calls?: number[]; // that begin in it
}

export interface TrackData {
    core: number;
    context: number; // 0: the core's own
    rows: RowData[]; // by depth
    marks: { at: number[]; id: number[] };
}

// What covers a stretch of a core's time: `kind` is "gap" (records are missing), "dropped" (calls are), or one that this page
// does not know and shows, too.
export interface BandData {
    core: number[];
    kind: string[];
    from: number[];
    to: number[];
    what: string[];
}

export interface TimelineData {
    duration: number;
    slot: number; // its width
    slots_from: number; // begin of slot 0
    tracks: TrackData[];
    bands: BandData;
    interrupts: number[]; // of the view's functions: those that are none, but interrupts
    calls: number; // in the recording
    drawn: number; // of them: in the rows
    deeper: number; // of them: deeper than any row
    left_out: string; // what else is not shown
    times: string; // what the times are
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

// The first of those that are not over at `time`: none of a row begins before the one before it has ended, but for calls
// that were told whole.
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
