// SPDX-License-Identifier: Apache-2.0
// Single calls, as the engine answers questions about them (host-tools/views/engine/engine.hpp).
// Times are those of the timeline.
import type { TimelineData } from "./timeline_model";

export interface PlacedCall {
    fn: number; // a position in View.functions, or a number of `special`
    track: number; // a position in TimelineData.tracks
    depth: number;
    from: number;
    duration: number | null; // null: not known
    left: string; // "returned", "gap", "unwound" or "open"
}

// Some calls of the list of all calls that a question is about.
export interface CallsData {
    calls: number; // in the list
    first: number; // place of the first in the list
    begin: number | null; // the list has calls from this time on; null: all
    summed: number; // number of older calls of which only sums are left
    deeper: number; // number of calls that are too deep for the list
    from: number[]; // distances from the one before
    duration: (number | null)[];
    track: number[];
    depth: number[];
    function: number[];
    left: [number, string][]; // [position, how it ended], of those that did not return
}

export interface FoundCall {
    call: (Omit<PlacedCall, "fn"> & { number: number | null }) | null; // number: its place among `calls`
    calls: number; // of the function
}

// The calls that a question is about.
export interface Asked {
    from?: number; // they begin in this range
    to?: number;
    tracks?: number[]; // positions in TimelineData.tracks
}

// Which call of a function: the next of nothing is the first.
export type Which = "next" | "previous" | "longest" | "shortest";

// State.time on the axis of the timeline.
export function selectedRange(time: string, { origin }: TimelineData): Asked {
    const found = /^(\d+)\.\.(\d+)$/.exec(time);
    return found ? { from: Number(found[1]) + origin, to: Number(found[2]) + origin } : {};
}

export function callsOf(data: CallsData): PlacedCall[] {
    let from = 0;
    const calls = data.from.map((step, at) => ({
        fn: data.function[at], track: data.track[at], depth: data.depth[at], from: (from += step), duration: data.duration[at], left: "returned",
    }));
    for (const [at, how] of data.left) calls[at].left = how;
    return calls;
}
